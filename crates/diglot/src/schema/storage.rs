//! Settles how SQLite holds the times and decimals that Postgres has types for.
//!
//! What the project declares in `[storage]` comes first, then what a default of the schema writes, then the declared
//! type. Where none of them says it, the comparison of the schemas asks for the line.

use std::collections::BTreeMap;

use super::{Column, Fill, Schema, Table};
use crate::config::Config;
use crate::dialect::Both;
use crate::page::{Annotation, AnnotationKind};
use crate::types::{Base, Form, Of, Stored};

/// Gives every column of SQLite that faces a time or a decimal the form in which it is held. A pair of columns that is
/// declared to differ stays as it is declared.
pub(crate) fn settle(config: &Config, Both { sqlite, pg }: &mut Both<Schema>, declared: &[Annotation]) {
    let differs = |table: &str, column: &str| {
        declared.iter().any(|annotation| match &annotation.kind {
            AnnotationKind::Diverges { fact, item: Some(item), .. } => {
                fact == "type" && item.split_once('.') == Some((table, column))
            }
            _ => false,
        })
    };
    let mut by_name: BTreeMap<String, Option<Form>> = BTreeMap::new();
    for table in sqlite.tables.values_mut().filter(|table| !table.view) {
        let Some(facing) = pg.tables.get(&table.name) else { continue };
        for column in &mut table.columns {
            let holds_document = facing
                .column(&column.name)
                .is_some_and(|facing| facing.ty.base == Base::Json || facing.ty.base.is_list());
            // A column without affinity keeps a document as the text that it is; a program that is not generated may
            // read it as bytes.
            if holds_document && column.ty.base == Base::Bytes && !config.generate.enabled {
                column.ty.base = Base::Text;
            }
            let Some((of, scale)) = facing.column(&column.name).and_then(faced) else { continue };
            if differs(&table.name, &column.name) {
                continue;
            }
            if let Some(form) = form(config, &table.name, column, of) {
                column.ty.base = Base::Stored(Stored { of, form, scale });
                let known = by_name.entry(column.name.clone()).or_insert(Some(form));
                *known = known.filter(|known| *known == form);
            }
        }
    }
    // A view shows columns of tables, mostly under their names.
    for table in sqlite.tables.values_mut().filter(|table| table.view) {
        let Some(facing) = pg.tables.get(&table.name) else { continue };
        for column in &mut table.columns {
            let Some((of, scale)) = facing.column(&column.name).and_then(faced) else { continue };
            let said = config.storage.form(&table.name, &column.name, of);
            let form = said.or_else(|| by_name.get(&column.name).copied().flatten().filter(|form| form.holds(of)));
            if let Some(form) = form {
                column.ty.base = Base::Stored(Stored { of, form, scale });
            }
        }
    }
}

/// What a column of Postgres has that SQLite does not, with the digits of a decimal.
fn faced(pg: &Column) -> Option<(Of, Option<u32>)> {
    let of = Of::facing(&pg.ty.base)?;
    let lengths = pg.declared.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(inside, _)| inside);
    let scale =
        lengths.filter(|_| of == Of::Decimal).map(|lengths| lengths.split_once(',').map_or("0", |(_, scale)| scale));
    Some((of, scale.and_then(|scale| scale.trim().parse().ok())))
}

/// How a column is held; none where it cannot hold such values at all.
fn form(config: &Config, table: &str, column: &Column, of: Of) -> Option<Form> {
    let affinity = Affinity::of(&column.declared);
    if let Some(said) = config.storage.form(table, &column.name, of) {
        return Some(said);
    }
    let by_default = match &column.fill {
        Fill::Value(text) => clock(text).map(|clock| clock.form),
        _ => None,
    };
    if let Some(form) = by_default.filter(|form| form.holds(of)) {
        return Some(form);
    }
    match (of, affinity) {
        (Of::Date, Affinity::Text | Affinity::Numeric) => Some(Form::Date),
        (Of::TimeOfDay, Affinity::Text | Affinity::Numeric) => Some(Form::Time),
        (Of::Decimal, Affinity::Text) => Some(Form::Digits),
        (Of::Uuid, Affinity::Text) => Some(Form::Hyphenated),
        // What a driver of SQLite writes into a column that is declared so.
        (Of::Timestamp | Of::DateTime, Affinity::Numeric) if is_time(&column.declared) => Some(Form::Rfc3339),
        (Of::Timestamp | Of::DateTime, _) => Some(Form::Unsaid),
        _ => None,
    }
}

fn is_time(declared: &str) -> bool {
    declared.contains("date") || declared.contains("time")
}

/// What SQLite makes of a value that is written into a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Affinity {
    Integer,
    Text,
    Blob,
    Real,
    Numeric,
}

impl Affinity {
    fn of(declared: &str) -> Self {
        let has = |piece: &str| declared.contains(piece);
        if has("int") {
            Self::Integer
        } else if has("char") || has("clob") || has("text") {
            Self::Text
        } else if has("blob") || declared.is_empty() {
            Self::Blob
        } else if has("real") || has("floa") || has("doub") {
            Self::Real
        } else {
            Self::Numeric
        }
    }
}

/// Whether a column keeps what is held in a form as it is written.
pub(super) fn keeps(declared: &str, form: Form) -> bool {
    let affinity = Affinity::of(declared);
    match form.seen() {
        Base::Int64 => matches!(affinity, Affinity::Integer | Affinity::Numeric),
        Base::Float64 => matches!(affinity, Affinity::Real | Affinity::Numeric),
        // The digits of a decimal become a number there; the texts of times do not.
        _ => affinity == Affinity::Text || affinity == Affinity::Numeric && form != Form::Digits,
    }
}

/// A name that SQLite does not know makes a column one of numbers, whatever it says to a reader: `STRING` is one.
pub(super) fn counted(table: &Table, ours: &Column, theirs: &Column) -> Option<(String, String)> {
    let is_text = ours.ty.base == Base::Text && matches!(theirs.ty.base, Base::Text | Base::Enum(_) | Base::Json);
    // In a STRICT table ANY keeps what it is given.
    let is_counted = !table.strict && !table.view && Affinity::of(&ours.declared) == Affinity::Numeric;
    (is_text && is_counted).then(|| {
        let why = format!("SQLite makes numbers of texts in a `{}`: '007' is stored as 7", ours.declared);
        (why, "write `TEXT` on SQLite".to_owned())
    })
}

/// A default that is the time of the INSERT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clock {
    /// What SQLite writes.
    pub(super) form: Form,
    /// Whether it is a time of some zone that nobody names.
    pub(super) local: bool,
}

/// The clock of SQLite that a default reads, from its text in the form in which defaults are compared.
pub(super) fn clock(text: &str) -> Option<Clock> {
    if let Some(product) = text.strip_prefix("*(").and_then(|text| text.strip_suffix(')')) {
        let (number, of) = match product.rsplit_once(", ") {
            Some((of, number)) if number.parse::<f64>().is_ok() => (number, of),
            _ => product.split_once(", ")?,
        };
        let seconds = of.starts_with("unixepoch(") || clock(of).is_some_and(|clock| clock.form == Form::Seconds);
        let form = match number {
            _ if !seconds => return None,
            "1000" | "1000.0" => Form::Milliseconds,
            "1000000" | "1000000.0" => Form::Microseconds,
            _ => return None,
        };
        return Some(Clock { form, local: of.contains("'localtime'") });
    }
    let (name, arguments) = match text.split_once('(') {
        Some((name, rest)) => (name, rest.strip_suffix(')')?),
        None => (text, ""),
    };
    let texts: Vec<&str> = arguments.split(", ").map(|text| text.trim_matches('\'')).collect();
    let times: Vec<&str> = texts.iter().copied().filter(|text| !text.is_empty() && !text.contains('%')).collect();
    let is_now = times.iter().all(|text| ["now", "localtime", "utc", "subsec", "subsecond"].contains(text));
    let form = Form::written_by(name, &texts).filter(|_| is_now)?;
    Some(Clock { form, local: times.contains(&"localtime") })
}

/// The clock of Postgres that a default reads; whether it is that of the session's zone.
fn pg_clock(text: &str, of: Of) -> Option<bool> {
    let in_utc = ["timezone('utc', now())", "timezone('utc', current_timestamp)"].contains(&text)
        || ["now() at time zone 'utc'", "current_timestamp at time zone 'utc'"].contains(&text);
    let is_clock = [
        "now()",
        "current_timestamp",
        "transaction_timestamp()",
        "statement_timestamp()",
        "clock_timestamp()",
        "localtimestamp",
        "current_date",
        "current_time",
        "localtime",
    ];
    if in_utc {
        return Some(of == Of::Timestamp);
    }
    is_clock.contains(&text).then(|| of != Of::Timestamp || text == "localtimestamp")
}

/// Whether two defaults say the same of a time or a decimal, or what is wrong and the way out.
pub(super) fn same_fill(stored: Stored, sqlite: &str, pg: &str, utc: bool) -> Result<bool, (String, String)> {
    if stored.of == Of::Decimal {
        let digits = |text: &str| text.trim_matches('\'').trim_end_matches('0').trim_end_matches('.').to_owned();
        let number = |text: &str| if text.contains('.') { digits(text) } else { text.trim_matches('\'').to_owned() };
        return Ok(number(sqlite) == number(pg));
    }
    let (Some(ours), Some(zoned)) = (clock(sqlite), pg_clock(pg, stored.of)) else { return Ok(false) };
    if ours.local {
        let why = "SQLite fills it with the local time of the machine".to_owned();
        return Err((why, "drop `'localtime'` on SQLite: its clocks give UTC, which all readers can go by".to_owned()));
    }
    if zoned && !utc {
        let why = "Postgres fills it with the time in the session's zone, SQLite in UTC".to_owned();
        let help = match stored.of {
            Of::Timestamp => "write `now()` on Postgres",
            _ => {
                "write `(now() AT TIME ZONE 'utc')` on Postgres, or `pg_timezone = \"UTC\"` in `diglot.toml` if every session is in that zone"
            }
        };
        return Err((why, help.to_owned()));
    }
    if ours.form != stored.form {
        let why = format!("the default writes `{}`, and the column holds `{}`", ours.form.word(), stored.form.word());
        return Err((why, "write a default of the column's form on SQLite".to_owned()));
    }
    Ok(true)
}

/// What is wrong with how a column is held, and the way out.
pub(super) fn unfit(table: &str, sqlite: &Column, pg: &Column) -> Option<(String, String)> {
    let Some(stored) = sqlite.ty.base.stored() else {
        let is_double = matches!(Affinity::of(&sqlite.declared), Affinity::Real | Affinity::Numeric);
        return (is_double && pg.ty.base == Base::Numeric).then(|| {
            let why = format!("`{}` is a double on SQLite, which loses digits of `{}`", sqlite.declared, pg.declared);
            let whole = "a whole number of the smallest unit, as `bigint`, in both schemas";
            (why, format!("write `TEXT` on SQLite, which holds the digits, or {whole}"))
        });
    };
    let key = format!("\"{table}.{}\"", sqlite.name);
    let near = match Affinity::of(&sqlite.declared) {
        Affinity::Real => "julian",
        Affinity::Text => "rfc3339",
        _ => "seconds",
    };
    if stored.form == Form::Unsaid {
        let why = format!("nothing says how `{}` holds `{}`", sqlite.declared, pg.declared);
        let line = format!("say it in `diglot.toml`, below `[storage]`: `{key} = \"{near}\"`");
        return Some((why, format!("{line}; the words are {}", Form::words(stored.of))));
    }
    if !keeps(&sqlite.declared, stored.form) {
        let why = format!("`{}` does not keep `{}` as it is written", sqlite.declared, stored.form.word());
        return Some((why, format!("write another type on SQLite, or another word in `[storage]` for `{key}`")));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_tell_the_form_of_a_column() {
        let form = |text: &str| clock(text).map(|clock| (clock.form, clock.local));
        assert_eq!(form("current_timestamp"), Some((Form::Datetime, false)));
        assert_eq!(form("datetime('now', 'localtime')"), Some((Form::Datetime, true)));
        assert_eq!(form("unixepoch()"), Some((Form::Seconds, false)));
        assert_eq!(form("strftime('%s', 'now')"), Some((Form::Seconds, false)));
        assert_eq!(form("*(unixepoch('subsec'), 1000)"), Some((Form::Milliseconds, false)));
        assert_eq!(form("*(1000, strftime('%s', 'now'))"), Some((Form::Milliseconds, false)));
        assert_eq!(form("strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"), Some((Form::IsoMs, false)));
        assert_eq!(form("julianday('now')"), Some((Form::Julian, false)));
        assert_eq!(form("datetime('now', '+1 day')"), None);
        assert_eq!(form("'2024-01-01'"), None);
        assert_eq!(form("0"), None);
    }

    #[test]
    fn a_column_keeps_what_is_not_changed_by_its_affinity() {
        assert!(keeps("integer", Form::Seconds) && keeps("timestamp", Form::Datetime) && keeps("text", Form::Digits));
        assert!(
            !keeps("decimal(10, 2)", Form::Digits) && !keeps("text", Form::Seconds) && !keeps("integer", Form::Iso)
        );
    }
}
