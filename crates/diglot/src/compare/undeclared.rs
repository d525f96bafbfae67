//! The line of `diglot.toml` that is missing where pages read a member of which nothing is known.

use crate::normal::{Head, Node, Read, Target};

/// What to say under `[json]` so that the engines are known to read a member alike.
pub(super) fn line(sqlite: &Node, pg: &Node) -> Option<String> {
    let (document, path) = undeclared(sqlite)?;
    let word = word(pg, &path, None)?;
    let (table, column) = document.head.in_table()?;
    let member = if path.is_empty() { String::new() } else { format!(".{path}") };
    Some(format!("\"{table}.{column}{member}\" = \"{word}\""))
}

/// The first member of which nothing is known, with its document.
fn undeclared(node: &Node) -> Option<(&Node, String)> {
    match (&node.head, node.kids.as_slice()) {
        (Head::Read(Read::Typed | Read::LengthOrZero, path), [document]) => Some((document, path.dotted())),
        _ => node.kids.iter().find_map(undeclared),
    }
}

/// The kind of member for which Postgres reads one as it does.
fn word(node: &Node, path: &str, cast: Option<&Target>) -> Option<&'static str> {
    match &node.head {
        Head::Read(read, own) if own.dotted() == path => match (read, cast) {
            (Read::Length, _) => Some("text[]"),
            (Read::Text, Some(Target::Int)) => Some("i64"),
            (Read::Text, Some(Target::Real | Target::Numeric)) => Some("f64"),
            (Read::Text, Some(target)) if target.word() == "bool" => Some("bool"),
            (Read::Text | Read::Value, _) => Some("text"),
            _ => None,
        },
        Head::Cast(target) => node.kids.iter().find_map(|kid| word(kid, path, Some(target))),
        _ => node.kids.iter().find_map(|kid| word(kid, path, None)),
    }
}
