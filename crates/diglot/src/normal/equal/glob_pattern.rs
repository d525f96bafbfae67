//! GLOB on SQLite and LIKE on Postgres, with the pattern translated.

use super::super::{Head, Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let Head::Like { op: "glob", negated, escape: None } = node.head else { return None };
    let [text, pattern] = node.kids.as_slice() else { return None };
    let written = pattern.head.text().filter(|written| !written.contains(['[', '%', '_', '\\']))?;
    let translated = written.replace('*', "%").replace('?', "_");
    let pattern = Node::leaf(Head::Text(translated), pattern.span);
    Some(Node::list(Head::Like { op: "like", negated, escape: None }, vec![text.clone(), pattern], node.span))
}
