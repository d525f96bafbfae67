//! How columns of SQLite may hold times, where neither `[storage]` nor a default of the schema says it: what the program
//! does tells it best, then what other columns do, then what drivers write.

use std::collections::{BTreeMap, BTreeSet};

use super::Schema;
use crate::dialect::Both;
use crate::types::{Base, Form, Stored};

/// A line of `[storage]` that may be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The column, or a pattern of columns.
    pub column: String,
    /// The word.
    pub word: &'static str,
}

/// What of a program tells how it writes times, in the order in which it counts.
const SIGNS: [(&str, Form); 22] = [
    ("UnixMilli()", Form::Milliseconds),
    ("timestamp_millis()", Form::Milliseconds),
    ("as_millis()", Form::Milliseconds),
    ("UnixMicro()", Form::Microseconds),
    ("timestamp_micros()", Form::Microseconds),
    ("as_micros()", Form::Microseconds),
    ("Unix()", Form::Seconds),
    ("timestamp()", Form::Seconds),
    ("unixepoch(", Form::Seconds),
    ("2006-01-02T15:04:05.000Z", Form::IsoMs),
    ("%Y-%m-%dT%H:%M:%S%.3fZ", Form::IsoMs),
    ("%Y-%m-%dT%H:%M:%fZ", Form::IsoMs),
    ("2006-01-02T15:04:05Z", Form::Iso),
    ("%Y-%m-%dT%H:%M:%SZ", Form::Iso),
    ("time.RFC3339)", Form::Iso),
    ("time.RFC3339Nano", Form::Rfc3339),
    ("to_rfc3339", Form::Rfc3339),
    ("2006-01-02 15:04:05.000", Form::DatetimeMs),
    ("%Y-%m-%d %H:%M:%S%.3f", Form::DatetimeMs),
    ("2006-01-02 15:04:05", Form::Datetime),
    ("%Y-%m-%d %H:%M:%S", Form::Datetime),
    ("time.DateTime", Form::Datetime),
];

/// Lines of `[storage]` for the columns of which nothing says how they hold times; `code` is the program that writes
/// SQLite's, as far as it is known.
pub(crate) fn proposed(schemas: &Both<Schema>, code: &[&str]) -> Vec<Proposal> {
    let tables = || schemas.sqlite.tables.values().filter(|table| !table.view);
    let times = || tables().flat_map(|table| table.columns.iter().map(move |column| (table, column)));
    let stored = |base: &Base| base.stored().filter(|stored| stored.of.base().is_time());
    let said: Vec<Form> = times().filter_map(|(_, column)| stored(&column.ty.base)).map(|one| one.form).collect();
    let signs = SIGNS.iter().filter(|(sign, _)| code.iter().any(|text| text.contains(sign)));
    let signs: Vec<Form> = signs.map(|(_, form)| *form).collect();
    let mut words: BTreeMap<(&str, &str), &'static str> = BTreeMap::new();
    for (table, column) in times() {
        let Some(Stored { form: Form::Unsaid, .. }) = stored(&column.ty.base) else { continue };
        let keeps = |form: Form| super::storage::keeps(&column.declared, form) && form != Form::Unsaid;
        let by_name = named(&column.name).filter(|form| keeps(*form));
        let by_statement = assigned(&column.name, code).filter(|form| keeps(*form));
        let by_program = signs.iter().copied().find(|form| keeps(*form));
        let by_others = said.iter().copied().find(|form| keeps(*form));
        let by_driver = [Form::Rfc3339, Form::Seconds, Form::Julian].into_iter().find(|form| keeps(*form));
        if let Some(form) = by_name.or(by_statement).or(by_program).or(by_others).or(by_driver) {
            words.insert((table.name.as_str(), column.name.as_str()), form.word());
        }
    }
    lines(&words)
}

/// The form of the clock that statements assign to a column of this name.
fn assigned(column: &str, code: &[&str]) -> Option<Form> {
    let clocks = code
        .iter()
        .flat_map(|text| text.match_indices(column).map(|(at, _)| (&text[..at], &text[at + column.len()..])));
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut values = clocks.filter(|(before, _)| !before.ends_with(is_word)).filter_map(|(_, behind)| {
        let value = behind.trim_start_matches(['"', '`', ']']).trim_start().strip_prefix('=')?.trim_start();
        let end = value.find([',', '\n', ';', '\\']).unwrap_or(value.len());
        let call = value.find('(').filter(|open| *open < end).and_then(|_| Some(value.find(')')? + 1));
        Some(value[..call.unwrap_or(end)].split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase())
    });
    values.find_map(|value| super::storage::clock(value.split(" where ").next()?.trim())).map(|clock| clock.form)
}

/// The unit that a column has in its name.
fn named(column: &str) -> Option<Form> {
    let unit = column.rsplit('_').next()?;
    match unit {
        "ms" | "millis" => Some(Form::Milliseconds),
        "us" | "micros" => Some(Form::Microseconds),
        _ => None,
    }
}

/// A line for each column, or one for all that end alike and are held alike.
fn lines(words: &BTreeMap<(&str, &str), &'static str>) -> Vec<Proposal> {
    let ending = |column: &str| column.rsplit_once('_').map(|(_, last)| format!("*.*_{last}"));
    let mut forms: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for ((_, column), word) in words {
        if let Some(pattern) = ending(column) {
            forms.entry(pattern.clone()).or_default().insert(word);
            *counts.entry(pattern).or_default() += 1;
        }
    }
    let mut lines: Vec<Proposal> = Vec::new();
    for ((table, column), word) in words {
        let pattern = ending(column).filter(|pattern| forms[pattern].len() == 1 && counts[pattern] > 1);
        let line = Proposal { column: pattern.unwrap_or_else(|| format!("{table}.{column}")), word };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Inputs;
    use crate::source::SourceFile;

    fn proposed_of(sqlite: &str, pg: &str, code: &[&str]) -> Vec<(String, &'static str)> {
        let mut inputs = Inputs::default();
        inputs.sources.add(SourceFile::new("schema/sqlite/0001_a.sql", sqlite));
        inputs.sources.add(SourceFile::new("schema/pg/0001_a.sql", pg));
        let mut schemas = Both::of(|dialect| {
            let files: Vec<_> = inputs.migrations(dialect).into_iter().map(|(id, _)| id).collect();
            super::super::read(&inputs.sources, &files, dialect).0
        });
        super::super::storage::settle(&inputs.config, &mut schemas, &[]);
        proposed(&schemas, code).into_iter().map(|one| (one.column, one.word)).collect()
    }

    #[test]
    fn a_column_is_held_as_the_program_writes_it() {
        let sqlite =
            "CREATE TABLE bay (id INTEGER PRIMARY KEY, seen_at TEXT, shut_at TEXT, kept_ms INTEGER, told INTEGER);";
        let pg = "CREATE TABLE bay (id bigint PRIMARY KEY, seen_at timestamptz, shut_at timestamptz, \
                  kept_ms timestamptz, told timestamptz);";
        let of = |code: &[&str]| {
            proposed_of(sqlite, pg, code)
                .into_iter()
                .map(|(column, word)| format!("{column} {word}"))
                .collect::<Vec<_>>()
        };
        let rest = ["bay.kept_ms milliseconds", "bay.told seconds"];
        assert_eq!(of(&[]), [&rest[..1], &["*.*_at rfc3339"], &rest[1..]].concat());
        let layout = "const layout = \"2006-01-02T15:04:05.000Z\"";
        assert_eq!(of(&[layout])[1], "*.*_at iso-ms");
        assert_eq!(of(&["at.UnixMicro()"])[2], "bay.told microseconds");
        let statement = "\"UPDATE bay SET seen_at = CURRENT_TIMESTAMP, \\\n  told = 1\"; at.to_rfc3339()";
        assert_eq!(of(&[statement])[1..3], ["bay.seen_at datetime", "bay.shut_at rfc3339"]);
    }

    #[test]
    fn what_other_columns_do_counts_and_what_is_said_is_not_proposed() {
        let sqlite = "CREATE TABLE bay (id INTEGER PRIMARY KEY, made TEXT DEFAULT (datetime('now')), told TEXT);";
        let pg = "CREATE TABLE bay (id bigint PRIMARY KEY, made timestamptz DEFAULT now(), told timestamptz);";
        assert_eq!(proposed_of(sqlite, pg, &[]), [("bay.told".to_owned(), "datetime")]);
    }
}
