//! Statements that give the same rows at all times: they read no table and ask neither the clock nor a locale.

use super::{Body, Expr, ExprKind, OrderKey, Source, SourceKind, Statement};
use crate::types::Base;

/// Functions whose result follows from their arguments alone.
const FUNCTIONS: &[&str] = &[
    "abs",
    "avg",
    "ceil",
    "ceiling",
    "char_length",
    "coalesce",
    "count",
    "decode",
    "div",
    "encode",
    "floor",
    "format",
    "hex",
    "ifnull",
    "iif",
    "instr",
    "length",
    "ltrim",
    "mod",
    "nullif",
    "octet_length",
    "power",
    "printf",
    "repeat",
    "replace",
    "right",
    "round",
    "rtrim",
    "sign",
    "sqrt",
    "strpos",
    "substr",
    "substring",
    "sum",
    "to_hex",
    "total",
    "trim",
    "trunc",
    "unhex",
];
/// Functions that read the clock when they are called with fewer arguments than that.
const TIMES: &[(&str, usize)] = &[
    ("date", 1),
    ("date_part", 2),
    ("datetime", 1),
    ("extract", 2),
    ("julianday", 1),
    ("strftime", 2),
    ("time", 1),
    ("unixepoch", 1),
];
/// Operators that no locale changes.
const OPERATORS: &[&str] = &[
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "|",
    "<<",
    ">>",
    "||",
    "=",
    "<>",
    "and",
    "or",
    "is distinct from",
    "is not distinct from",
];
/// Words by which a text asks for the clock or for the machine's own time zone.
const MOVING: [&str; 7] = ["now", "today", "tomorrow", "yesterday", "localtime", "subsec", "utc"];

impl Statement {
    /// Whether it gives the same rows at all times, as far as can be told without the settings of a session.
    pub(crate) fn is_constant(&self) -> bool {
        self.params.is_empty()
            && self.sources().into_iter().all(stays)
            && self.parts.iter().all(|part| {
                matches!(part.body, Body::Query(_))
                    && part.statement == 0
                    && part.queries().into_iter().all(|query| query.locks.is_empty() && ordered(&query.order))
            })
            && self.exprs().into_iter().all(is_plain)
    }
}

fn stays(source: &Source) -> bool {
    match &source.kind {
        SourceKind::Cte(_) | SourceKind::Derived(_) => true,
        SourceKind::Function { name, .. } => name == "generate_series",
        SourceKind::Table(_) | SourceKind::Rows(_) | SourceKind::Excluded => false,
    }
}

/// Whether no text is sorted: each database has its own order of texts.
fn ordered(keys: &[OrderKey]) -> bool {
    keys.iter().all(|key| is_no_text(&key.expr))
}

fn is_no_text(expr: &Expr) -> bool {
    expr.base().is_some_and(|base| *base != Base::Text)
}

/// Whether an expression, what is inside it aside, always gives the same.
fn is_plain(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Null
        | ExprKind::Bool(_)
        | ExprKind::Number(_)
        | ExprKind::Blob(_)
        | ExprKind::Column { .. }
        | ExprKind::Unary { .. }
        | ExprKind::Is { .. }
        | ExprKind::InList { .. }
        | ExprKind::InQuery { .. }
        | ExprKind::Exists { .. }
        | ExprKind::Scalar(_)
        | ExprKind::Case { .. } => true,
        ExprKind::Text(text) => {
            let text = text.to_lowercase();
            MOVING.iter().all(|word| !text.contains(word))
        }
        ExprKind::Binary { op, left, right } => match op.as_str() {
            "<" | "<=" | ">" | ">=" => is_no_text(left) || is_no_text(right),
            op => OPERATORS.contains(&op),
        },
        ExprKind::Between { expr, low, high, .. } => is_no_text(expr) || (is_no_text(low) && is_no_text(high)),
        ExprKind::Like { op, .. } => matches!(*op, "like" | "glob"),
        ExprKind::Call { name, args, order, over, .. } => {
            let windowed = over.as_ref().is_none_or(|window| ordered(&window.order));
            let of_time = TIMES.iter().any(|(time, least)| time == name && args.len() >= *least);
            ordered(order) && windowed && (of_time || FUNCTIONS.contains(&name.as_str()))
        }
        ExprKind::Cast { to, base, .. } => base.is_some() || to.starts_with("interval"),
        ExprKind::Param(_)
        | ExprKind::Collate { .. }
        | ExprKind::Array(_)
        | ExprKind::Tuple(_)
        | ExprKind::Any { .. }
        | ExprKind::Opaque(_) => false,
    }
}
