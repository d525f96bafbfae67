//! Why one text on two engines, or two texts that look alike, do not mean the same: what each engine does, and with which
//! types.

use crate::dialect::{Both, Dialect};
use crate::normal::{Head, Node};
use crate::operations::{
    Bound, Case, Characters, Clock, Collation, Concat, Half, Meaning, Negative, Null, Number, Sense, Sort, Sum, Zero,
    sense, signature,
};
use crate::tree::{Expr, ExprKind, Statement};
use crate::types::Base;

/// The longest form of a page that a note quotes.
const QUOTED: usize = 100;

/// How a note begins that tells in which form diglot compares: where a database shows what differs, it tells nothing more.
pub(crate) const TAKEN_AS: &str = "SQLite takes it as";

/// What each engine does in a place.
pub(super) fn why(trees: Both<&Statement>, a: &Node, b: &Node) -> Option<String> {
    if let (Head::Clause(ours), Head::Clause(theirs)) = (&a.head, &b.head)
        && (ours.as_str(), theirs.as_str()) == ("or ignore", "nothing")
    {
        let passes = "OR IGNORE passes over a row that breaks NOT NULL or a CHECK too, DO NOTHING over one whose key is there alone";
        return Some(passes.to_owned());
    }
    let (here, there) = (at(trees.sqlite, a), at(trees.pg, b));
    let done = |dialect: Dialect, expr: Option<&Expr>| expr.and_then(|expr| phrase(dialect, expr));
    let (ours, theirs) = (short(&a.spelling()), short(&b.spelling()));
    let is_column = |expr: Option<&Expr>| expr.is_some_and(|expr| matches!(expr.kind, ExprKind::Column { .. }));
    match (done(Dialect::Sqlite, here), done(Dialect::Pg, there)) {
        // Of a column its type tells least.
        _ if is_column(here) && is_column(there) && ours != theirs => Some(taken_as(&ours, &theirs)),
        (Some(ours), Some(theirs)) if ours != theirs && here.zip(there).is_some_and(are_alike) => {
            Some(format!("on SQLite {ours}; on Postgres {theirs}"))
        }
        _ => (ours != theirs).then(|| taken_as(&ours, &theirs)),
    }
}

/// Whether two expressions are of one sort, so that what they do can be held against each other.
fn are_alike((here, there): (&Expr, &Expr)) -> bool {
    match (&here.kind, &there.kind) {
        (ExprKind::Binary { op, .. }, ExprKind::Binary { op: other, .. }) => op == other,
        (here, there) => std::mem::discriminant(here) == std::mem::discriminant(there),
    }
}

fn taken_as(ours: &str, theirs: &str) -> String {
    format!("{TAKEN_AS} `{ours}`, Postgres as `{theirs}`")
}

fn short(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The expression that stands in the place of a node.
fn at<'t>(tree: &'t Statement, node: &Node) -> Option<&'t Expr> {
    tree.exprs().into_iter().find(|expr| expr.span == node.span)
}

/// What an engine does there, with the types of what it is given.
fn phrase(dialect: Dialect, expr: &Expr) -> Option<String> {
    let none = std::collections::BTreeSet::new();
    let written = signature(expr).map(|text| format!("`{text}`"));
    match (&expr.kind, sense(dialect, expr, &none)) {
        (ExprKind::Binary { op, .. }, _) if op == "->>" || op == "#>>" => Some(match dialect {
            Dialect::Sqlite => format!("{} gives a member as what it is, a number or a text", written?),
            Dialect::Pg => format!("{} gives every member as a text", written?),
        }),
        (ExprKind::Cast { expr: inner, base: Some(Base::Int16 | Base::Int32 | Base::Int64), .. }, _)
            if matches!(inner.base(), Some(Base::Float64 | Base::Numeric)) =>
        {
            let does =
                if dialect == Dialect::Sqlite { "drops the fraction" } else { "goes to the nearest whole number" };
            Some(format!("{} {does}", written?))
        }
        (_, Some(Sense::Known(means))) => Some(format!("{} {}", written?, does(&means)?)),
        (ExprKind::Column { column, .. }, _) => Some(format!("`{column}` is of type {}", expr.base()?.word())),
        _ => None,
    }
}

/// What an operation does that another one of its kind does not.
fn does(means: &Meaning) -> Option<String> {
    Some(match means {
        Meaning::Add(number)
        | Meaning::Subtract(number)
        | Meaning::Multiply(number)
        | Meaning::Negate(number)
        | Meaning::Absolute(number)
        | Meaning::Sign(number)
        | Meaning::Floor(number)
        | Meaning::Ceiling(number)
        | Meaning::Truncate(number) => format!("calculates {}", of_number(*number)),
        Meaning::Divide(number, zero) => {
            format!("divides {} and gives {} for zero", of_number(*number), of_zero(*zero))
        }
        Meaning::Remainder(number, zero) => {
            format!("takes the rest {} and gives {} for zero", of_number(*number), of_zero(*zero))
        }
        Meaning::Round(number, half) | Meaning::RoundTo(number, half) => {
            let goes = match half {
                Half::Away => "away from zero",
                Half::Even => "to the even neighbour",
            };
            format!("rounds halves {goes}, {}", of_number(*number))
        }
        Meaning::ShiftLeft(bound) | Meaning::ShiftRight(bound) => match bound {
            Bound::Out => "shifts everything out beyond the width".to_owned(),
            Bound::Modulo64 => "begins anew at 64 bits".to_owned(),
            Bound::Modulo32 => "begins anew at 32 bits".to_owned(),
        },
        Meaning::Greatest(null) | Meaning::Least(null) => match null {
            Null::Taken => "is NULL as soon as one value is".to_owned(),
            Null::Skipped => "passes over NULL".to_owned(),
        },
        Meaning::Substring(negative) => match negative {
            Negative::FromEnd => "counts a negative place from the end".to_owned(),
            Negative::Before | Negative::BeforeBytes => "has a negative place before the text".to_owned(),
        },
        Meaning::Equal(sort)
        | Meaning::Unequal(sort)
        | Meaning::NotDistinct(sort)
        | Meaning::Distinct(sort)
        | Meaning::Less(sort)
        | Meaning::LessOrEqual(sort)
        | Meaning::More(sort)
        | Meaning::MoreOrEqual(sort)
        | Meaning::Largest(sort)
        | Meaning::Smallest(sort) => format!("compares {}", of_sort(*sort)),
        Meaning::Like(case) | Meaning::Matches(case) => match case {
            Case::Ascii => "takes capitals of ASCII for small letters".to_owned(),
            Case::No => "tells capitals from small letters".to_owned(),
            Case::All => "takes all capitals for small letters".to_owned(),
        },
        Meaning::Lower(collation) | Meaning::Upper(collation) => match collation {
            Collation::Ascii => "changes letters of ASCII alone".to_owned(),
            _ => "changes all letters of the language".to_owned(),
        },
        Meaning::Length(characters) => match characters {
            Characters::Each => "counts characters".to_owned(),
            Characters::Bytes => "counts bytes".to_owned(),
            Characters::Bits => "counts bits".to_owned(),
            Characters::Written => "counts the characters that the value is written with".to_owned(),
        },
        Meaning::Join(concat) | Meaning::JoinAll(concat) | Meaning::Format(concat) => {
            format!("joins {}", of_concat(*concat))
        }
        Meaning::JoinWith => "passes over NULL".to_owned(),
        Meaning::Now(clock) => match clock {
            Clock::Text => "gives the time as a text, of UTC".to_owned(),
            Clock::Date => "gives a date".to_owned(),
            Clock::Instant => "gives a point in time".to_owned(),
            Clock::TimeOfDay => "gives a time of day".to_owned(),
        },
        Meaning::Sum(sum) | Meaning::Average(sum) => format!("adds {}", of_sum(*sum)),
        Meaning::Convert(to, Number::Lenient) => format!("makes {to} of whatever it is given"),
        Meaning::Convert(to, _) => format!("makes {to} and refuses what is not written like one"),
        _ => return None,
    })
}

fn of_number(number: Number) -> &'static str {
    match number {
        Number::Wide => "in 64 bits, beyond them in doubles",
        Number::WideChecked => "in 64 bits and fails beyond them",
        Number::Narrow => "in 32 bits and fails beyond them",
        Number::Real => "in doubles",
        Number::RealChecked => "in doubles and fails beyond their ends",
        Number::Exact => "in decimals of any length",
        Number::AsGiven | Number::Lenient | Number::Strict => "by what it is given",
    }
}

fn of_zero(zero: Zero) -> &'static str {
    match zero {
        Zero::Null => "NULL",
        Zero::Error => "an error",
    }
}

fn of_sort(sort: Sort) -> &'static str {
    match sort {
        Sort::Whole => "whole numbers",
        Sort::Real => "doubles",
        Sort::Mixed => "a whole number and a double, both exactly",
        Sort::MixedAsReal => "a whole number as a double",
        Sort::Bytes => "texts by their bytes",
        Sort::Language => "texts by a language",
        Sort::Storage => "by the kind in which each value is stored",
        Sort::Own => "values of their own type",
    }
}

fn of_concat(concat: Concat) -> &'static str {
    match concat {
        Concat::Texts => "texts, and is NULL as soon as one is",
        Concat::Anything => "everything as SQLite writes it",
        Concat::Printed => "everything as Postgres writes it",
        Concat::Bytes => "bytes",
        Concat::Documents => "the members of documents",
        Concat::Lists => "the elements of lists",
    }
}

fn of_sum(sum: Sum) -> &'static str {
    match sum {
        Sum::Wide => "in 64 bits and fails beyond them",
        Sum::Exact => "in decimals of any length",
        Sum::Real => "in doubles",
        Sum::RealChecked => "in doubles and fails beyond their ends",
        Sum::RealOrZero => "in doubles, and gives 0 for no rows",
        Sum::Span => "spans of time",
    }
}
