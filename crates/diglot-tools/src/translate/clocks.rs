//! The time as it is now, in the form of the column that it goes to or is compared with.

use super::rewrite::{Rewriter, Written};
use diglot::source::Span;
use diglot::tree::{Expr, ExprKind};
use diglot::types::{Form, Stored};

/// What Postgres calls the time at which the transaction began.
const OF_POSTGRES: [&str; 3] = ["now", "current_timestamp", "transaction_timestamp"];

/// The units whose length is the same at all times, so that both engines move a clock by them alike.
const UNITS: [&str; 4] = ["second", "minute", "hour", "day"];

/// Writes Postgres's clocks as SQLite's, where the other schema says in which form its column holds a time.
pub(super) fn of_postgres(rewriter: &mut Rewriter<'_>) {
    let held = |base: Option<&diglot::types::Base>| base.and_then(|base| base.stored());
    let mut found: Vec<(Span, Stored, String)> = Vec::new();
    for (table, column, value) in rewriter.assigned() {
        let column = rewriter.facing.tables.get(&table).and_then(|table| table.column(&column));
        if let (Some(stored), Some(shift)) = (held(column.map(|column| &column.ty.base)), moved(value)) {
            found.push((value.span, stored, shift));
        }
    }
    for expr in &rewriter.exprs {
        let sides = match &expr.kind {
            ExprKind::Binary { left, right, .. } => [(left, right), (right, left)],
            _ => continue,
        };
        for (column, clock) in sides {
            if let (Some(stored), Some(shift)) = (held(rewriter.facing_type(column)), moved(clock)) {
                found.push((clock.span, stored, shift));
            }
        }
    }
    for (place, stored, shift) in found {
        if let Some(text) = written(stored.form, &shift) {
            rewriter.write(place, Written::new().text(text));
        }
    }
}

/// Whether both engines move a clock alike by that many of a unit.
fn is_steady(count: &str, unit: &str) -> bool {
    let is_count = !count.is_empty() && count.bytes().all(|digit| digit.is_ascii_digit());
    is_count && UNITS.contains(&unit.strip_suffix('s').unwrap_or(unit))
}

/// What moves the time as it is, in SQLite's words; nothing where an expression is no such time.
fn moved(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Call { name, args, .. } if args.is_empty() && OF_POSTGRES.contains(&name.as_str()) => {
            Some(String::new())
        }
        ExprKind::Binary { op, left, right } if op == "+" || op == "-" => {
            let ExprKind::Cast { expr: words, to, .. } = &right.kind else { return None };
            let ExprKind::Text(words) = &words.kind else { return None };
            let (count, unit) = words.split_once(' ')?;
            let is_plain = to == "interval" && is_steady(count, unit);
            (is_plain && moved(left)?.is_empty()).then(|| format!(", '{op}{count} {unit}'"))
        }
        _ => None,
    }
}

/// SQLite's clock of a form, moved.
fn written(form: Form, shift: &str) -> Option<String> {
    let formatted = |pattern: &str| format!("strftime('{pattern}', 'now'{shift})");
    Some(match form {
        Form::Seconds if shift.is_empty() => "unixepoch()".to_owned(),
        Form::Seconds => format!("unixepoch('now'{shift})"),
        Form::Milliseconds => format!("CAST(unixepoch('now'{shift}, 'subsec') * 1000 AS INTEGER)"),
        Form::Microseconds => format!("CAST(unixepoch('now'{shift}, 'subsec') * 1000000 AS INTEGER)"),
        Form::Julian => format!("julianday('now'{shift})"),
        Form::Datetime => format!("datetime('now'{shift})"),
        Form::DatetimeMs => formatted("%Y-%m-%d %H:%M:%f"),
        Form::Iso => formatted("%Y-%m-%dT%H:%M:%SZ"),
        Form::IsoMs => formatted("%Y-%m-%dT%H:%M:%fZ"),
        Form::Rfc3339 => formatted("%Y-%m-%dT%H:%M:%f+00:00"),
        Form::Date => format!("date('now'{shift})"),
        Form::Time => format!("time('now'{shift})"),
        Form::Digits | Form::Hyphenated | Form::Unsaid => return None,
    })
}

/// Postgres's clock for one of SQLite's that has these texts; nothing where one of them says something else.
pub(super) fn of_sqlite(args: &[Expr]) -> Option<String> {
    let mut text = "now()".to_owned();
    for arg in args {
        let ExprKind::Text(word) = &arg.kind else { return None };
        if ["now", "subsec", "subsecond"].contains(&word.as_str()) || word.contains('%') {
            continue;
        }
        let (count, unit) = word.split_once(' ')?;
        let (op, count) = match count.strip_prefix('-') {
            Some(count) => ('-', count),
            None => ('+', count.strip_prefix('+').unwrap_or(count)),
        };
        if !is_steady(count, unit) {
            return None;
        }
        text += &format!(" {op} interval '{count} {unit}'");
    }
    Some(text)
}
