//! The line of `diglot.toml` that is missing where pages read a member of which nothing is known.

use crate::normal::{Head, Node, Read, Target};

/// What to say under `[json]` so that the engines are known to read a member alike.
pub(super) fn line(sqlite: &Node, pg: &Node) -> Option<String> {
    let declared = undeclared(sqlite).and_then(|(document, path)| {
        let word = word(pg, &path, None)?;
        Some((document, path, word))
    });
    let (document, path, word) = declared.or_else(|| place(pg))?;
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

/// The first member of Postgres whose places are those of elements only if it is an array, which then is to be declared.
fn place(node: &Node) -> Option<(&Node, String, &'static str)> {
    match (&node.head, node.kids.as_slice()) {
        (Head::Read(_, path), [document]) if let Some(array) = path.to_array() => {
            Some((document, array.dotted(), "text[]"))
        }
        _ => node.kids.iter().find_map(place),
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
