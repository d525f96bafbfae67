//! CASE that does what COALESCE and NULLIF do.
//!
//! # Why
//!
//! `CASE WHEN x IS NULL THEN y ELSE x END` is `COALESCE(x, y)`, `CASE WHEN x = y THEN NULL ELSE x END` is
//! `NULLIF(x, y)`. A value that is another one each time it is asked for is not taken for the same.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT CASE WHEN t.note IS NULL THEN 'none' ELSE t.note END AS c FROM t
//! pg:     SELECT COALESCE(t.note, 'none') AS c FROM t
//! sqlite: SELECT CASE WHEN t.note || 'a' IS NOT NULL THEN t.note || 'a' ELSE 'none' END AS c FROM t
//! pg:     SELECT COALESCE(t.note || 'a', 'none') AS c FROM t
//! sqlite: SELECT nullif(t.name, 'a') AS c FROM t
//! pg:     SELECT CASE WHEN t.name = 'a' THEN NULL ELSE t.name END AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT CASE WHEN t.note IS NULL THEN 'none' ELSE t.name END AS c FROM t
//! pg:     SELECT COALESCE(t.note, 'none') AS c FROM t
//! sqlite: SELECT nullif(t.name, 'a') AS c FROM t
//! pg:     SELECT CASE WHEN t.name = 'a' THEN t.name END AS c FROM t
//! ```

use super::super::{Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let [branch, otherwise] = node.kids.as_slice() else { return None };
    let (condition, then) = super::both(branch, "when").filter(|_| node.head == "case")?;
    let is_null = |node: &Node| node.kids.is_empty() && node.head == "null";
    let same = |value: &Node, other: &Node| value.key() == other.key() && !is_another_each_time(value);
    let function = |name: &str, value: &Node, other: &Node| {
        Some(Node::list(name, vec![value.clone(), other.clone()], node.span))
    };
    if let Some(value) = super::inside(condition, "is null").filter(|value| same(value, otherwise)) {
        return function("coalesce", value, then);
    }
    if let Some(value) = super::inside(condition, "is not null").filter(|value| same(value, then)) {
        return function("coalesce", value, otherwise);
    }
    let (left, right) = super::both(condition, "=").filter(|_| is_null(then))?;
    if same(left, otherwise) {
        return function("nullif", left, right);
    }
    same(right, otherwise).then(|| function("nullif", right, left))?
}

/// Whether a value is drawn anew each time.
fn is_another_each_time(node: &Node) -> bool {
    ["random", "randomblob", "gen_random_uuid", "nextval"].contains(&node.head.as_str())
        || node.kids.iter().any(is_another_each_time)
}
