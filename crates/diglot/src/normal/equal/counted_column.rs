//! COUNT of a column that is never NULL, and `count(*)`.
//!
//! # Why
//!
//! COUNT of an expression leaves out NULLs; where there are none it counts rows.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT count(t.n) AS c FROM t
//! pg:     SELECT count(*) AS c FROM t
//! sqlite: SELECT count(COALESCE(t.maybe, 3)) AS c FROM t
//! pg:     SELECT count(CASE WHEN t.maybe IS NULL THEN 3 ELSE t.maybe END) AS c FROM t
//! sqlite: SELECT count(json_extract(t.doc, '$.any')) AS c FROM t
//! pg:     SELECT count(t.doc->>'any') AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT count(t.maybe) AS c FROM t
//! pg:     SELECT count(*) AS c FROM t
//! sqlite: SELECT count(DISTINCT json_extract(t.doc, '$.any')) AS c FROM t
//! pg:     SELECT count(DISTINCT t.doc->>'any') AS c FROM t
//! ```

use super::super::{Function, Head, Names, Node, json};
use crate::tree::{Expr, ExprKind};

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let ExprKind::Call { name, args, distinct: false, over: None, .. } = &expr.kind else { return None };
    let [counted] = args.as_slice() else { return None };
    if name != "count" {
        return None;
    }
    if !names.required(counted) {
        // Nothing but whether a member is there counts.
        let read = json::as_text(node.kids.first()?.clone());
        return Some(Node { kids: [&[read], &node.kids[1..]].concat(), ..node.clone() });
    }
    Some(Node { head: Head::CallOfRows(Function::Count), kids: node.kids[1..].to_vec(), ..node.clone() })
}
