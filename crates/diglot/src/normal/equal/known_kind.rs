//! What is read of a member behind a question for its kind.
//!
//! # Why
//!
//! SQLite reads a member in SQL's type and counts the elements of what is no array as none; Postgres reads text, and has no
//! answer there. At the first and at the last place of a text, a number or a boolean Postgres has that itself, and SQLite
//! nothing. Where the member has been asked for its kind, both read the same: of a text the text, of an array its elements.
//! Postgres may work on the sides of AND in any order, so there only what is no error counts.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT CASE WHEN json_type(t.doc, '$.any') = 'text' THEN json_extract(t.doc, '$.any') END AS c FROM t
//! pg:     SELECT CASE WHEN jsonb_typeof(t.doc->'any') = 'string' THEN t.doc->>'any' END AS c FROM t
//! sqlite: SELECT t.n AS c FROM t WHERE json_type(t.doc, '$.any') = 'text' AND json_extract(t.doc, '$.any') = t.name
//! pg:     SELECT t.n AS c FROM t WHERE jsonb_typeof(t.doc->'any') = 'string' AND t.doc->>'any' = t.name
//! sqlite: SELECT CASE WHEN json_type(t.doc, '$.any') = 'array' THEN json_array_length(t.doc, '$.any') ELSE -1 END AS c FROM t
//! pg:     SELECT CASE WHEN jsonb_typeof(t.doc->'any') = 'array' THEN jsonb_array_length(t.doc->'any') ELSE -1 END AS c FROM t
//! sqlite: SELECT CASE WHEN json_type(t.doc, '$.any') = 'array' THEN t.doc -> '$.any[0]' END AS c FROM t
//! pg:     SELECT CASE WHEN jsonb_typeof(t.doc->'any') = 'array' THEN t.doc->'any'->0 END AS c FROM t
//! sqlite: SELECT t.n AS c FROM t WHERE t.doc -> '$.any[0].id' IS NULL
//! pg:     SELECT t.n AS c FROM t WHERE t.doc->'any'->0->'id' IS NULL
//! sqlite: SELECT t.n AS c FROM t WHERE t.doc -> '$.any[1]' IS NULL
//! pg:     SELECT t.n AS c FROM t WHERE t.doc->'any'->1 IS NULL
//! sqlite: SELECT COALESCE(json_array_length(t.doc, '$.any'), 0) AS c FROM t
//! pg:     SELECT CASE WHEN jsonb_typeof(t.doc->'any') = 'array' THEN jsonb_array_length(t.doc->'any') ELSE 0 END AS c FROM t
//! sqlite: SELECT json_array_length(t.doc) AS c FROM t
//! pg:     SELECT CASE WHEN jsonb_typeof(t.doc) = 'array' THEN jsonb_array_length(t.doc) ELSE 0 END AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT json_array_length(t.doc, '$.any') AS c FROM t
//! pg:     SELECT jsonb_array_length(t.doc->'any') AS c FROM t
//! sqlite: SELECT json_array_length(t.doc, '$.any') AS c FROM t
//! pg:     SELECT CASE WHEN jsonb_typeof(t.doc->'any') = 'array' THEN jsonb_array_length(t.doc->'any') ELSE 0 END AS c FROM t
//! sqlite: SELECT t.n AS c FROM t WHERE t.doc -> '$.any[0]' IS NULL
//! pg:     SELECT t.n AS c FROM t WHERE t.doc->'any'->0 IS NULL
//! sqlite: SELECT t.n AS c FROM t WHERE t.doc -> '$.any[#-1]' IS NULL
//! pg:     SELECT t.n AS c FROM t WHERE t.doc->'any'->-1 IS NULL
//! sqlite: SELECT t.n AS c FROM t WHERE t.doc -> '$.any[0][0]' IS NULL
//! pg:     SELECT t.n AS c FROM t WHERE t.doc->'any'->0->0 IS NULL
//! sqlite: SELECT CASE WHEN json_type(t.doc, '$.any') = 'array' THEN t.doc -> '$.other[0]' END AS c FROM t
//! pg:     SELECT CASE WHEN jsonb_typeof(t.doc->'any') = 'array' THEN t.doc->'other'->0 END AS c FROM t
//! sqlite: SELECT CASE WHEN json_type(t.doc, '$.any') = 'text' THEN json_extract(t.doc, '$.other') END AS c FROM t
//! pg:     SELECT CASE WHEN jsonb_typeof(t.doc->'any') = 'string' THEN t.doc->>'other' END AS c FROM t
//! sqlite: SELECT t.n AS c FROM t WHERE json_type(t.doc, '$.any') = 'array' AND json_array_length(t.doc, '$.any') > 1
//! pg:     SELECT t.n AS c FROM t WHERE jsonb_typeof(t.doc->'any') = 'array' AND jsonb_array_length(t.doc->'any') > 1
//! sqlite: SELECT t.n AS c FROM t WHERE json_type(t.doc, '$.any') = 'text' OR json_extract(t.doc, '$.any') = t.name
//! pg:     SELECT t.n AS c FROM t WHERE jsonb_typeof(t.doc->'any') = 'string' OR t.doc->>'any' = t.name
//! ```

use super::super::head::Path;
use super::super::words::Read;
use super::super::{Form, Function, Head, Names, Node, Op, json};
use crate::tree::{Expr, ExprKind};

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    match &node.head {
        Head::Form(Form::Case) => {
            let kids = node.kids.iter().map(|kid| behind_question(kid).unwrap_or_else(|| kid.clone())).collect();
            let case = Node { kids, ..node.clone() };
            Some(length_or_zero(names, expr, &case).unwrap_or(case))
        }
        Head::Op(Op::And) => {
            let asked: Vec<_> = node.kids.iter().filter_map(asked_kind).filter(|asked| asked.kind == "text").collect();
            (!asked.is_empty()).then(|| {
                let kids = node.kids.iter().map(|kid| asked.iter().fold(kid.clone(), |kid, asked| asked.known_in(&kid)));
                Node { kids: kids.collect(), ..node.clone() }
            })
        }
        _ => None,
    }
}

/// A member that a condition asks for one kind.
struct Asked<'n> {
    document: String,
    path: &'n Path,
    kind: &'static str,
}

fn asked_kind(condition: &Node) -> Option<Asked<'_>> {
    let (Head::IsOfType { path, types, negated: false }, [document]) = (&condition.head, condition.kids.as_slice()) else {
        return None;
    };
    let [kind @ ("text" | "array")] = types.as_slice() else { return None };
    Some(Asked { document: document.key(), path, kind })
}

impl Asked<'_> {
    /// A node where the member is of that kind.
    fn known_in(&self, node: &Node) -> Node {
        let mut node = if self.kind == "text" && self.is_read(json::read_inside(node)) {
            json::as_text(node.clone())
        } else {
            node.clone()
        };
        if self.kind == "array"
            && self.is_of_document(&node)
            && let Head::Read(read, path) = &mut node.head
        {
            if *read == Read::LengthOrZero && path == self.path {
                *read = Read::Length;
            }
            path.of_array(self.path);
        }
        node.kids = node.kids.iter().map(|kid| self.known_in(kid)).collect();
        node
    }

    fn is_read(&self, node: &Node) -> bool {
        matches!(&node.head, Head::Read(_, path) if path == self.path) && self.is_of_document(node)
    }

    fn is_of_document(&self, node: &Node) -> bool {
        matches!(node.kids.as_slice(), [document] if document.key() == self.document)
    }
}

/// A branch of a CASE whose condition asks for a kind, alone or among others.
fn behind_question(branch: &Node) -> Option<Node> {
    let (condition, then) = super::both(branch, Form::When)?;
    let conditions = match &condition.head {
        Head::Op(Op::And) => condition.kids.as_slice(),
        _ => std::slice::from_ref(condition),
    };
    let then = conditions.iter().filter_map(asked_kind).fold(then.clone(), |then, asked| asked.known_in(&then));
    Some(Node { kids: vec![condition.clone(), then], ..branch.clone() })
}

/// `CASE WHEN it is an array THEN its length ELSE 0 END`: SQLite's length, and 0 where there is nothing.
fn length_or_zero(names: &Names<'_>, expr: &Expr, case: &Node) -> Option<Node> {
    let (when, zero) = super::both(case, Form::Case).filter(|(_, zero)| zero.head.is_number("0"))?;
    let (condition, length) = super::both(when, Form::When)?;
    let asked = asked_kind(condition).filter(|asked| asked.kind == "array" && asked.is_read(length))?;
    if !matches!(length.head, Head::Read(Read::Length, _)) {
        return None;
    }
    let counted = length.with_head(Head::Read(Read::LengthOrZero, asked.path.clone()));
    let is_there = asked.path.0.is_empty() && counts_what_is_there(names, expr);
    Some(if is_there { counted } else { Node::list(Function::Coalesce, vec![counted, zero.clone()], case.span) })
}

/// Whether the document that a CASE counts is a column without NULL.
fn counts_what_is_there(names: &Names<'_>, case: &Expr) -> bool {
    let ExprKind::Case { branches, .. } = &case.kind else { return false };
    let [(_, Expr { kind: ExprKind::Call { args, .. }, .. })] = branches.as_slice() else { return false };
    args.first().is_some_and(|document| names.required(document))
}
