//! `json_set` with a path of several steps, and `||` on every level.
//!
//! # Why
//!
//! SQLite makes the objects on the way when they are missing. Postgres does so when each level begins with
//! `COALESCE(doc->'step', '{}')`; `jsonb_set` with such a path does nothing instead.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT json_set(t.doc, '$.a.b', 'x') AS c FROM t
//! pg:     SELECT t.doc || jsonb_build_object('a', COALESCE(t.doc->'a', '{}') || jsonb_build_object('b', 'x'::text)) AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT json_set(t.doc, '$.a.b', 'x') AS c FROM t
//! pg:     SELECT jsonb_set(t.doc, '{a,b}', to_jsonb('x'::text)) AS c FROM t
//! sqlite: SELECT json_set(t.doc, '$.a.b', 'x') AS c FROM t
//! pg:     SELECT t.doc || jsonb_build_object('a', jsonb_build_object('b', 'x'::text)) AS c FROM t
//! ```

use super::super::{Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let (document, members) = super::both(node, "json-set").filter(|(_, members)| members.head == "members")?;
    let mut changed = false;
    let mut all = Vec::new();
    for member in &members.kids {
        match nested(document, member) {
            Some(inner) => {
                changed = true;
                all.extend(inner);
            }
            None => all.push(member.clone()),
        }
    }
    let members = Node { kids: all, ..members.clone() };
    changed.then(|| Node { kids: vec![document.clone(), members], ..node.clone() })
}

/// The members that a member sets inside the object that is there, or a new one.
fn nested(document: &Node, member: &Node) -> Option<Vec<Node>> {
    let [value] = member.kids.as_slice() else { return None };
    let (base, inner) = super::both(value, "json-set")?;
    let (old, empty) = super::both(base, "coalesce")?;
    let empty = super::inside(empty, "cast json").or_else(|| super::inside(empty, "json")).unwrap_or(empty);
    let same = old.head == format!("json-value {}", member.head) && old.kids.first()?.key() == document.key();
    if !same || empty.head != "'{}'" {
        return None;
    }
    let with_parent = |kid: &Node| {
        let steps = kid.head.strip_prefix("with parents ").unwrap_or(&kid.head);
        Node { head: format!("with parents {}.{steps}", member.head), ..kid.clone() }
    };
    Some(inner.kids.iter().map(with_parent).collect())
}
