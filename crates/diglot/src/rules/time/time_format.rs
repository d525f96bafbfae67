//! A time of another form meets a column of times.

use crate::rules::Context;
use crate::rules::look::is_comparison;
use crate::diagnostic::Diagnostic;
use crate::resolve::written;
use crate::rule;
use crate::source::Span;
use crate::tree::{Expr, ExprKind};
use crate::types::{Base, Form, Of, Stored};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_sqlite_of_pair() {
        return;
    }
    let mut report = |what: String, span: Span, label: String, help: String, setting: Option<String>| {
        let message = format!("{}: {what}", context.name());
        let finding = Diagnostic::error(rule::TIME_FORMAT, message, span, label).help(help);
        found.push(setting.into_iter().fold(finding, Diagnostic::help));
    };
    for (table, name, value) in context.stored() {
        let Some(stored) = table.column(name).and_then(|column| time(&column.ty.base)) else { continue };
        if let Some(given) = other_form(value, stored) {
            let what = format!("`{}.{name}` holds `{}`, and gets `{given}`", table.name, stored.form.word());
            let setting = setting(&table.name, name, given, stored);
            report(what, value.span, format!("`{given}`"), way_out(stored), setting);
        }
    }
    for expr in &context.exprs {
        let pairs: Vec<(&Expr, &Expr)> = match &expr.kind {
            ExprKind::Binary { op, left, right } if is_comparison(op) => vec![(&**left, &**right), (&**right, &**left)],
            ExprKind::Between { expr, low, high, .. } => vec![(&**expr, &**low), (&**expr, &**high)],
            ExprKind::InList { expr, list, .. } => list.iter().map(|item| (&**expr, item)).collect(),
            ExprKind::Call { name, args, .. } => {
                if let Some((what, help)) = misread(name, args) {
                    report(what, expr.span, "reads another time".to_owned(), help, None);
                }
                continue;
            }
            _ => continue,
        };
        let clash = pairs.iter().find_map(|(column, value)| {
            let stored = column.base().and_then(time)?;
            Some((*column, stored, other_form(value, stored)?, value.span))
        });
        if let Some((column, stored, given, span)) = clash {
            let what = format!("a time as `{}` is compared with one as `{given}`", stored.form.word());
            let owner = context.column(column);
            let setting = owner.and_then(|(table, column)| setting(&table.name, &column.name, given, stored));
            report(what, span, format!("`{given}`"), way_out(stored), setting);
        }
    }
}

/// How a column of times holds them, where that is known.
fn time(base: &Base) -> Option<Stored> {
    base.stored().filter(|stored| stored.of.base().is_time() && stored.form != Form::Unsaid)
}

/// The form of a value, if it is a time of another one; a word for what is no time at all.
fn other_form(value: &Expr, wanted: Stored) -> Option<&'static str> {
    if let Some(stored) = value.base().and_then(Base::stored) {
        return (stored.form != wanted.form && stored.form != Form::Unsaid).then(|| stored.form.word());
    }
    match &value.kind {
        ExprKind::Call { name, args, .. } => {
            written(name, args).filter(|form| *form != wanted.form && !is_same_text(*form, wanted)).map(Form::word)
        }
        ExprKind::Text(text) => (!is_of_form(text, wanted.form)).then_some("a text of another form"),
        ExprKind::Number(_) if *wanted.form.seen() == Base::Text => Some("a number"),
        _ => None,
    }
}

/// A date beside texts that begin with one is cut off, and is in their order.
fn is_same_text(form: Form, wanted: Stored) -> bool {
    form == Form::Date && wanted.of != Of::Date && *wanted.form.seen() == Base::Text
}

/// Whether a literal looks as values of a form do. One that is shorter stands in their order.
fn is_of_form(text: &str, form: Form) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let begins = |with: &str| with.starts_with(&shape) && shape.len() >= 10;
    match form {
        Form::Datetime => begins("0000-00-00 00:00:00"),
        Form::DatetimeMs => begins("0000-00-00 00:00:00.000"),
        Form::Iso => begins("0000-00-00T00:00:00Z"),
        Form::IsoMs => begins("0000-00-00T00:00:00.000Z"),
        Form::Rfc3339 => shape.starts_with("0000-00-00T00:00:00") && shape.ends_with("+00:00") || begins("0000-00-00"),
        Form::Date => shape == "0000-00-00",
        Form::Time => shape.starts_with("00:00"),
        _ => false,
    }
}

/// A function of dates over a column whose times it takes for others.
fn misread(name: &str, args: &[Expr]) -> Option<(String, String)> {
    let times = match name {
        "strftime" => args.get(1..)?,
        "date" | "time" | "datetime" | "julianday" | "unixepoch" => args,
        _ => return None,
    };
    let (first, modifiers) = times.split_first()?;
    let stored = first.base().and_then(time)?;
    let says = |word: &str| modifiers.iter().any(|arg| matches!(&arg.kind, ExprKind::Text(text) if text == word));
    let is_number = says("unixepoch") || says("auto");
    let word = stored.form.word();
    match stored.form {
        Form::Seconds if !is_number => {
            let help = format!("write `'unixepoch'` behind it: `{name}(…, 'unixepoch')`");
            Some((format!("`{name}` takes a column of `{word}` for a Julian day"), help))
        }
        Form::Milliseconds | Form::Microseconds => {
            let help = format!("divide it: `{name}(… / {}, 'unixepoch')`", stored.form.units());
            Some((format!("`{name}` takes a column of `{word}` for one of seconds"), help))
        }
        form if *form.seen() == Base::Text && says("unixepoch") => {
            Some((format!("`{name}` takes a text of `{word}` for a number"), "drop `'unixepoch'`".to_owned()))
        }
        _ => None,
    }
}

/// The line of the settings that is right where the column holds what the page writes.
fn setting(table: &str, column: &str, given: &str, stored: Stored) -> Option<String> {
    let line = format!("`\"{table}.{column}\" = \"{given}\"`");
    let is_word = Form::words(stored.of).split(", ").any(|word| word.trim_matches('`') == given);
    is_word.then(|| format!("or, if the column holds `{given}`, say so in `diglot.toml`, below `[storage]`: {line}"))
}

fn way_out(stored: Stored) -> String {
    let clock = match stored.form {
        Form::Seconds => "unixepoch('now')",
        Form::Milliseconds => "unixepoch('now') * 1000",
        Form::Microseconds => "unixepoch('now') * 1000000",
        Form::Julian => "julianday('now')",
        Form::DatetimeMs => "strftime('%Y-%m-%d %H:%M:%f', 'now')",
        Form::Iso => "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')",
        Form::IsoMs => "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
        Form::Rfc3339 => "strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')",
        Form::Date => "date('now')",
        Form::Time => "time('now')",
        _ => "datetime('now')",
    };
    format!("write a value of that form, such as `{clock}`, or a parameter, which is bound in it")
}
