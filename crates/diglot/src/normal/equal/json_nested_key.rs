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

use super::super::words::{Read, Setting, Target};
use super::super::{Form, Function, Head, Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let (document, members) = super::both(node, Form::JsonSet).filter(|(_, members)| members.head == Form::Members)?;
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
    let Head::Member { setting: Setting::Plain, makes_parents: false, path: outer } = &member.head else { return None };
    let [value] = member.kids.as_slice() else { return None };
    let (base, inner) = super::both(value, Form::JsonSet)?;
    let (old, empty) = super::both(base, Function::Coalesce)?;
    let empty = super::inside(empty, Target::Json).or_else(|| super::inside(empty, Form::Json)).unwrap_or(empty);
    let same = old.head == Head::Read(Read::Value, outer.clone()) && old.kids.first()?.key() == document.key();
    if !same || !empty.head.is_text("{}") {
        return None;
    }
    let with_parent = |kid: &Node| match &kid.head {
        Head::Member { setting, path, .. } => {
            let head = Head::Member { setting: *setting, makes_parents: true, path: outer.then(&path.0) };
            Some(kid.with_head(head))
        }
        _ => None,
    };
    inner.kids.iter().map(with_parent).collect()
}
