//! Items of a list, asked for by a query of it.
//!
//! # Why
//!
//! As a condition, `EXISTS (SELECT 1 FROM json_each(:list) AS e WHERE e.value = x)` asks what
//! `x IN (SELECT value FROM json_each(:list))` asks. Of a column that the project declares an array of texts,
//! `list ? x` of Postgres asks whether one of its elements is x.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE EXISTS (SELECT 1 FROM json_each(:list) AS e WHERE e.value = t.name)
//! pg:     SELECT t.n AS c FROM t WHERE t.name = ANY(:list)
//! sqlite: SELECT t.n AS c FROM t WHERE EXISTS (SELECT 1 FROM json_each(:list) AS e WHERE e.value = t.name)
//! pg:     SELECT t.n AS c FROM t WHERE t.name IN (SELECT unnest(:list::text[]))
//! sqlite: SELECT t.n AS c FROM t WHERE EXISTS (SELECT 1 FROM json_each(t.list) AS e WHERE e.value = :name)
//! pg:     SELECT t.n AS c FROM t WHERE t.list ? :name
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE EXISTS (SELECT 1 FROM json_each(:list) AS e WHERE e.value <> t.name)
//! pg:     SELECT t.n AS c FROM t WHERE t.name = ANY(:list)
//! sqlite: SELECT t.n AS c FROM t WHERE EXISTS (SELECT 1 FROM json_each(:list) AS e WHERE e.key = t.big)
//! pg:     SELECT t.n AS c FROM t WHERE t.big = ANY(:list)
//! sqlite: SELECT t.n AS c FROM t WHERE EXISTS (SELECT 1 FROM json_each(t.doc) AS e WHERE e.value = :name)
//! pg:     SELECT t.n AS c FROM t WHERE t.doc ? :name
//! ```

use super::{Known, all_of, conditions, equal, equation, exists, only_select, plain_query};
use crate::tree::{Expr, ExprKind, OutputColumn, Query, Rows, Select, Source, SourceId, SourceKind};
use crate::types::{Base, Type};

/// Makes memberships of the conditions of a query that ask for items of a list.
pub(super) fn of_query(query: &mut Query, _: &Known<'_>) -> bool {
    let Rows::Select(select) = &mut query.rows else { return false };
    of_filter(&mut select.filter)
}

/// The same of a filter.
pub(super) fn of_filter(filter: &mut Option<Expr>) -> bool {
    let mut all = conditions(filter.clone());
    let mut is_changed = false;
    for condition in &mut all {
        if let Some(membership) = membership(condition) {
            *condition = membership;
            is_changed = true;
        }
    }
    if is_changed {
        *filter = all_of(all);
    }
    is_changed
}

fn membership(condition: &Expr) -> Option<Expr> {
    let ExprKind::Exists { query, negated: false } = &condition.kind else { return None };
    let select = only_select(query).filter(|select| select.group.is_empty() && select.having.is_none())?;
    let [source] = select.from.as_slice() else { return None };
    let SourceKind::Function { name, args } = &source.kind else { return None };
    let element = match name.as_str() {
        "json_each" => "value",
        "unnest" | "jsonb_array_elements_text" => source.columns.first()?.0.as_str(),
        _ => return None,
    };
    let [list] = args.as_slice() else { return None };
    let (column, value) = equation(select.filter.as_ref()?, source.id)?;
    if column != element || !matches!(list.bare().kind, ExprKind::Param(_)) {
        return None;
    }
    let (span, ty) =
        (query.span, source.columns.iter().find(|(name, _)| name == column).and_then(|(_, ty)| ty.clone()));
    let item = Expr { kind: ExprKind::Column { source: source.id, column: column.to_owned() }, ty, span };
    let columns = vec![OutputColumn { name: column.to_owned(), expr: item, span }];
    let items = Select { columns, filter: None, distinct: None, ..select.clone() };
    let kind =
        ExprKind::InQuery { expr: Box::new(value.clone()), query: Box::new(plain_query(items, span)), negated: false };
    Some(Expr { kind, ..condition.clone() })
}

/// Makes a query of the elements of `list ? item`.
pub(super) fn of_document(expr: &mut Expr, known: &Known<'_>) -> bool {
    let ExprKind::Binary { op, left, right } = &expr.kind else { return false };
    if op != "?" || !known.is_list_of_texts(left) || !known.is_present(left) || !known.is_present(right) {
        return false;
    }
    let (id, span) = (known.fresh(), expr.span);
    let text = Some(Type::required(Base::Text));
    let item = Expr { kind: ExprKind::Column { source: id, column: "value".to_owned() }, ty: text.clone(), span };
    let found = equal(item, (**right).clone(), right.span);
    *expr = exists(vec![elements(id, left, text)], vec![found], false, span);
    true
}

fn elements(id: SourceId, list: &Expr, ty: Option<Type>) -> Source {
    let name = "jsonb_array_elements_text".to_owned();
    Source {
        id,
        alias: "item".to_owned(),
        kind: SourceKind::Function { name, args: vec![list.clone()] },
        join: None,
        columns: vec![("value".to_owned(), ty)],
        span: list.span,
    }
}
