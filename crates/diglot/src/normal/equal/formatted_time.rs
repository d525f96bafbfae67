//! Seconds since 1970 written as a date or a time of day in UTC.

use super::super::{Head, Names, Node};
use crate::dialect::Dialect;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

/// The patterns of Postgres with the directives of SQLite, the longest first.
const PATTERNS: [(&str, &str); 6] =
    [("YYYY", "%Y"), ("HH24", "%H"), ("MM", "%m"), ("DD", "%d"), ("MI", "%M"), ("SS", "%S")];

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let (format, seconds) = match names.dialect() {
        Dialect::Sqlite => by_directives(expr)?,
        Dialect::Pg => by_patterns(names, expr)?,
    };
    let is_whole = matches!(seconds.base(), Some(Base::Int16 | Base::Int32 | Base::Int64));
    is_whole.then(|| Node::list(Head::FormattedTime(format), vec![names.expr(seconds)], node.span))
}

/// The format and the seconds of a call of SQLite.
fn by_directives(expr: &Expr) -> Option<(String, &Expr)> {
    let ExprKind::Call { name, args, .. } = &expr.kind else { return None };
    let (format, rest) = match (name.as_str(), args.as_slice()) {
        ("strftime", [format, rest @ ..]) => (text(format)?, rest),
        ("date", rest) => ("%Y-%m-%d", rest),
        ("time", rest) => ("%H:%M:%S", rest),
        ("datetime", rest) => ("%Y-%m-%d %H:%M:%S", rest),
        _ => return None,
    };
    let [seconds, from] = rest else { return None };
    let known = |directive: &str| PATTERNS.iter().any(|(_, known)| *known == format!("%{directive}"));
    let mut directives = format.split('%').skip(1).map(|rest| rest.get(..1).unwrap_or_default());
    (text(from)? == "unixepoch" && directives.all(known)).then(|| (format.to_owned(), seconds))
}

/// The same of `to_char(to_timestamp(seconds) AT TIME ZONE 'UTC', pattern)`.
fn by_patterns<'e>(names: &Names<'_>, expr: &'e Expr) -> Option<(String, &'e Expr)> {
    let ("to_char", [time, pattern]) = call(expr)? else { return None };
    let instant = match &time.kind {
        ExprKind::Binary { op, left, right } if op == "at time zone" && text(right)? == "UTC" => left,
        _ if names.pair.promised.is_utc() => time,
        _ => return None,
    };
    let ("to_timestamp", [seconds]) = call(instant)? else { return None };
    Some((directives(text(pattern)?)?, seconds))
}

fn call(expr: &Expr) -> Option<(&str, &[Expr])> {
    match &expr.kind {
        ExprKind::Call { name, args, .. } => Some((name, args)),
        _ => None,
    }
}

fn text(expr: &Expr) -> Option<&str> {
    match &expr.bare().kind {
        ExprKind::Text(text) => Some(text),
        _ => None,
    }
}

/// A pattern of Postgres as SQLite writes it; none of one with words of which Postgres makes more.
fn directives(pattern: &str) -> Option<String> {
    let mut format = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        if let Some((known, directive)) = PATTERNS.iter().find(|(known, _)| rest.starts_with(known)) {
            format.push_str(directive);
            rest = &rest[known.len()..];
            // What stands right behind one is its end: `DDD`, `DDth`.
            if rest.starts_with(|c: char| c.is_ascii_alphanumeric()) && !PATTERNS.iter().any(|(next, _)| rest.starts_with(next)) {
                return None;
            }
        } else if let Some(quoted) = rest.strip_prefix('"') {
            let (inside, behind) = quoted.split_once('"')?;
            if inside.contains(['%', '\\']) {
                return None;
            }
            format.push_str(inside);
            rest = behind;
        } else if "-/:. ".contains(first) {
            format.push(first);
            rest = &rest[1..];
        } else {
            return None;
        }
    }
    Some(format)
}
