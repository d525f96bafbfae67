//! `datetime(t, '+2 days')` and `to_char(t + interval '2 days', 'YYYY-MM-DD HH24:MI:SS')`.
//!
//! # Why
//!
//! Both write the same text of a time in UTC without a zone. Days, hours, minutes and seconds have one length
//! there; a month and a year do not, and the engines go on from the 31st in two ways.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT datetime('2024-02-28 12:00:00', '+2 days', '-90 minutes') AS c
//! pg:     SELECT to_char(timestamp '2024-02-28 12:00:00' + interval '2 days' - interval '1 hour 30 minutes', 'YYYY-MM-DD HH24:MI:SS') AS c
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT datetime('2024-02-28 12:00:00', '+2 days') AS c
//! pg:     SELECT to_char(timestamp '2024-02-28 12:00:00' + interval '3 days', 'YYYY-MM-DD HH24:MI:SS') AS c
//! sqlite: SELECT datetime('2024-02-28 12:00:00', '+2 days') AS c
//! pg:     SELECT to_char(timestamptz '2024-02-28 12:00:00' + interval '2 days', 'YYYY-MM-DD HH24:MI:SS') AS c
//! sqlite: SELECT datetime('2024-01-31 12:00:00', '+1 months') AS c
//! pg:     SELECT to_char(timestamp '2024-01-31 12:00:00' + interval '1 months', 'YYYY-MM-DD HH24:MI:SS') AS c
//! sqlite: SELECT datetime('2024-02-28 12:00:00', '1 day 2 hours') AS c
//! pg:     SELECT to_char(timestamp '2024-02-28 12:00:00' + interval '1 day 2 hours', 'YYYY-MM-DD HH24:MI:SS') AS c
//! sqlite: SELECT datetime('2024-02-28 12:00:00', '+2 days') AS c
//! pg:     SELECT to_char(timestamp '2024-02-28 12:00:00' + interval '2 days', 'YYYY-MM-DD') AS c
//! ```

use super::super::{Head, Names, Node};
use crate::dialect::Dialect;
use crate::tree::{Expr, ExprKind};

const FORMAT: &str = "YYYY-MM-DD HH24:MI:SS";

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let ExprKind::Call { name, args, .. } = &expr.kind else { return None };
    let (time, shift) = match (names.dialect(), name.as_str(), args.as_slice()) {
        (Dialect::Sqlite, "datetime", [time, shifts @ ..]) => {
            // A modifier is one number with its unit, where an interval may be several.
            let seconds_of_one = |shift: &str| seconds(shift).filter(|_| shift.split_whitespace().count() == 2);
            let mut shifts = shifts.iter().map(|shift| text(shift).and_then(seconds_of_one));
            (text(time)?, shifts.try_fold(0_i64, |sum, shift| sum.checked_add(shift?))?)
        }
        (Dialect::Pg, "to_char", [time, format]) if text(format) == Some(FORMAT) => shifted(time)?,
        _ => return None,
    };
    // A fraction of a second is rounded by one and cut off by the other, and a zone is that of the session.
    let is_plain = |letter: char| letter.is_ascii_digit() || ['-', ':', ' '].contains(&letter);
    let time = time.replace('T', " ");
    time.chars().all(is_plain).then(|| Node::leaf(Head::TextOfTime { time, later: shift }, node.span))
}

fn text(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Text(text) => Some(text),
        _ => None,
    }
}

/// A time without a zone and the seconds that are added to it.
fn shifted(expr: &Expr) -> Option<(&str, i64)> {
    let mut shift = 0_i64;
    let mut time = expr;
    while let ExprKind::Binary { op, left, right } = &time.kind {
        let ExprKind::Cast { expr: interval, to, .. } = &right.kind else { return None };
        let by = seconds(text(interval)?).filter(|_| to.eq_ignore_ascii_case("interval"))?;
        shift = match op.as_str() {
            "+" => shift.checked_add(by)?,
            "-" => shift.checked_sub(by)?,
            _ => return None,
        };
        time = left;
    }
    let ExprKind::Cast { expr: literal, to, .. } = &time.kind else { return None };
    let is_plain = ["timestamp", "timestamp without time zone"].contains(&to.to_ascii_lowercase().as_str());
    Some((text(literal).filter(|_| is_plain)?, shift))
}

/// The seconds of pairs of a number and a unit.
fn seconds(shift: &str) -> Option<i64> {
    let (days, seconds) = days_and_seconds(shift)?;
    days.checked_mul(86_400)?.checked_add(seconds)
}

/// The days, and the seconds, of pairs of a number and a unit.
pub(super) fn days_and_seconds(shift: &str) -> Option<(i64, i64)> {
    let words: Vec<&str> = shift.split_whitespace().collect();
    if words.is_empty() || !words.len().is_multiple_of(2) {
        return None;
    }
    let length = |unit: &str| {
        Some(match unit.strip_suffix('s').unwrap_or(unit) {
            "second" | "sec" => (0, 1),
            "minute" | "min" => (0, 60),
            "hour" => (0, 3_600),
            "day" => (1, 0),
            _ => return None,
        })
    };
    words.chunks_exact(2).try_fold((0_i64, 0_i64), |(days, seconds), pair| {
        let (number, (day, second)) = (pair[0].parse::<i64>().ok()?, length(pair[1])?);
        Some((days.checked_add(number.checked_mul(day)?)?, seconds.checked_add(number.checked_mul(second)?)?))
    })
}
