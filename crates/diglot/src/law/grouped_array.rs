//! The array of a group.
//!
//! # Why
//!
//! Of no rows `json_group_array` makes an empty array and `jsonb_agg` makes NULL. A group of GROUP BY has a row, so there
//! the two are the same.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.n, json_group_array(t.name ORDER BY t.name) AS c FROM t GROUP BY t.n ORDER BY t.n
//! pg:     SELECT t.n, jsonb_agg(t.name ORDER BY t.name) AS c FROM t GROUP BY t.n ORDER BY t.n
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT json_group_array(t.name ORDER BY t.name) AS c FROM t
//! pg:     SELECT jsonb_agg(t.name ORDER BY t.name) AS c FROM t
//! sqlite: SELECT t.n, json_group_array(t.name ORDER BY t.name) FILTER (WHERE t.big > 3) AS c FROM t GROUP BY t.n ORDER BY t.n
//! pg:     SELECT t.n, jsonb_agg(t.name ORDER BY t.name) FILTER (WHERE t.big > 3) AS c FROM t GROUP BY t.n ORDER BY t.n
//! ```

use super::Known;
use crate::tree::{Expr, ExprKind, Query, Rows};
use crate::types::{Base, Type};

pub(super) fn apply(query: &mut Query, _: &Known<'_>) -> bool {
    let Rows::Select(select) = &mut query.rows else { return false };
    if select.group.is_empty() {
        return false;
    }
    let mut is_changed = false;
    for column in &mut select.columns {
        let expr = &mut column.expr;
        let is_array = match &expr.kind {
            ExprKind::Call { name, args, filter: None, over: None, distinct: false, .. } => {
                name == "jsonb_agg" && args.len() == 1
            }
            _ => false,
        };
        if is_array {
            let empty =
                Expr { kind: ExprKind::Text("[]".to_owned()), ty: Some(Type::required(Base::Json)), span: expr.span };
            let kind = ExprKind::Call {
                name: "coalesce".to_owned(),
                args: vec![expr.clone(), empty],
                star: false,
                distinct: false,
                order: Vec::new(),
                filter: None,
                over: None,
            };
            *expr = Expr { kind, ty: Some(Type::required(Base::Json)), span: expr.span };
            is_changed = true;
        }
    }
    is_changed
}
