//! `unixepoch('now', '-1 hour')` and `now() - interval '1 hour'` beside a column of times.

use super::super::words::Target;
use super::super::{Function, Head, Names, Node};
use crate::dialect::Dialect;
use crate::tree::{Expr, ExprKind};
use crate::types::{Base, Form, Of, Stored};

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    match (names.dialect(), expr.base()?) {
        (Dialect::Sqlite, Base::Stored(stored)) => of_sqlite(names, expr, *stored, node),
        (Dialect::Pg, base) if base.is_time() => of_pg(names, expr, base, node),
        _ => None,
    }
}

fn of_sqlite(names: &Names<'_>, expr: &Expr, stored: Stored, node: &Node) -> Option<Node> {
    match &expr.kind {
        ExprKind::Call { name, args, .. } => {
            let times = if name == "strftime" { args.get(1..)? } else { args.as_slice() };
            clock(names, name, times, stored, node)
        }
        // What is cast to a number is one already.
        ExprKind::Cast { .. } => node.kids.first().filter(|_| node.head == Target::Int).cloned(),
        ExprKind::Binary { op, left, right } if ["+", "-"].contains(&op.as_str()) => {
            let units = number(right)?;
            let unit = match stored.form {
                Form::Seconds => 1,
                Form::Milliseconds => 1_000,
                Form::Microseconds => 1_000_000,
                _ => return None,
            };
            let seconds = (units % unit == 0).then_some(units / unit)?;
            let shift = if op == "-" { seconds.checked_neg()? } else { seconds };
            Some(shifted(names.expr(left), (0, shift), node))
        }
        ExprKind::Binary { op, .. } if op == "*" => Some(now(node)),
        _ => None,
    }
}

/// A clock with what moves it.
fn clock(names: &Names<'_>, name: &str, args: &[Expr], stored: Stored, node: &Node) -> Option<Node> {
    if !["unixepoch", "strftime", "datetime", "date", "time", "julianday"].contains(&name) {
        return name.starts_with("current_").then(|| now(node));
    }
    let (time, moves) = match args {
        [] => (now(node), args),
        [time, moves @ ..] => match &time.kind {
            ExprKind::Text(text) if text == "now" => (now(node), moves),
            ExprKind::Column { .. } if time.base().is_some_and(|base| base.stored().is_some()) => {
                (names.expr(time), moves)
            }
            _ => return None,
        },
    };
    let mut shift = (0_i64, 0_i64);
    for word in moves {
        let ExprKind::Text(word) = &word.kind else { return None };
        if ["unixepoch", "auto", "utc"].contains(&word.as_str()) {
            continue;
        }
        // A modifier is one number with its unit, where an interval may be several.
        let (days, seconds) = days_and_seconds(word).filter(|_| word.split_whitespace().count() == 2)?;
        shift = (shift.0.checked_add(days)?, shift.1.checked_add(seconds)?);
    }
    // A date is cut off from whatever time it is.
    let is_cut = matches!(stored.of, Of::Date | Of::TimeOfDay) && shift.1 != 0;
    (!is_cut).then(|| shifted(time, shift, node))
}

fn of_pg(names: &Names<'_>, expr: &Expr, base: &Base, node: &Node) -> Option<Node> {
    match &expr.kind {
        ExprKind::Call { name, args, .. } if args.is_empty() => {
            let utc = || names.pair.promised.is_utc();
            match name.as_str() {
                "now" | "current_timestamp" | "transaction_timestamp" => Some(now(node)),
                "localtimestamp" | "current_date" | "localtime" => utc().then(|| now(node)),
                _ => None,
            }
        }
        ExprKind::Binary { op, left, right } if ["+", "-"].contains(&op.as_str()) => {
            let (days, seconds) = length(right)?;
            let sign = if op == "-" { -1 } else { 1 };
            let utc = || names.pair.promised.is_utc();
            if days != 0 && *base == Base::Timestamp && !utc() {
                return None;
            }
            Some(shifted(names.expr(left), (days.checked_mul(sign)?, seconds.checked_mul(sign)?), node))
        }
        ExprKind::Binary { op, left, right } if op == "at time zone" => {
            let is_now = names.expr(left).head == Function::Now;
            let is_utc = matches!(&right.kind, ExprKind::Text(zone) if zone.eq_ignore_ascii_case("utc"));
            (is_now && is_utc).then(|| now(node))
        }
        _ => None,
    }
}

/// The most seconds of a product: Postgres calculates it as a real number, which counts microseconds exactly so far.
const MOST: i64 = (1 << 53) / 1_000_000;

/// The days, and the seconds, of an interval or of so many of it.
fn length(expr: &Expr) -> Option<(i64, i64)> {
    match &expr.kind {
        ExprKind::Cast { expr: text, to, .. } if to.eq_ignore_ascii_case("interval") => match &text.kind {
            ExprKind::Text(text) => days_and_seconds(text),
            _ => None,
        },
        ExprKind::Binary { op, left, right } if op == "*" => {
            let (times, (days, seconds)) = match number(left) {
                Some(times) => (times, length(right)?),
                None => (number(right)?, length(left)?),
            };
            let product = (days.checked_mul(times)?, seconds.checked_mul(times)?);
            (product.0.abs() <= MOST && product.1.abs() <= MOST).then_some(product)
        }
        _ => None,
    }
}

fn number(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Number(digits) => digits.parse().ok(),
        _ => None,
    }
}

fn now(node: &Node) -> Node {
    Node::leaf(Function::Now, node.span)
}

/// A time so much later.
fn shifted(time: Node, (days, seconds): (i64, i64), node: &Node) -> Node {
    if (days, seconds) == (0, 0) {
        return Node { span: node.span, ..time };
    }
    Node::list(Head::Later { days, seconds }, vec![time], node.span)
}

/// The days, and the seconds, of pairs of a number and a unit.
fn days_and_seconds(shift: &str) -> Option<(i64, i64)> {
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
