//! The words in which evidence is told: what was tried, and a database on which the pages differ.

use std::collections::{BTreeMap, BTreeSet};

use super::{Extent, Scope, Witness};
use crate::config::Assumption;

/// How many rows of an answer or of a table are shown.
const ROWS: usize = 6;
/// How many columns of a table are shown.
const COLUMNS: usize = 8;
/// The longest value that is shown whole.
const LETTERS: usize = 40;

impl Scope {
    /// Which share of the one-sided changes was noticed, of a hundred; all where there is none to make.
    pub fn telling(&self) -> usize {
        (self.noticed * 100).checked_div(self.changes).unwrap_or(100)
    }

    /// What was tried and what was not, in one sentence or two.
    pub fn sentence(&self) -> String {
        let databases = grouped(self.databases);
        let rows = if self.rows == 1 { "1 row".to_owned() } else { format!("{} rows", self.rows) };
        let of = format!("databases of up to {rows} a table over at most {} values a column", self.values);
        let mut sentence = match self.extent {
            Extent::Whole => format!("equal on all {databases} {of}"),
            Extent::Pairs => format!("equal on {databases} {of}, in which every two of them meet"),
            Extent::Values => format!("equal on {databases} {of}, in which each of them occurs"),
        };
        sentence.push_str(" (every constant of both pages, its neighbours and NULL)");
        if self.changes > 0 {
            sentence.push_str(&format!("; {} of {} one-sided changes noticed", self.noticed, self.changes));
        }
        sentence.push('.');
        let assumed: Vec<&str> =
            self.assumed.iter().filter_map(|key| Assumption::of_key(key)).map(Assumption::says).collect();
        if !assumed.is_empty() {
            sentence.push_str(&format!(" Assumed: {}.", assumed.join(", ")));
        }
        if !self.not_covered.is_empty() {
            sentence.push_str(&format!(" Not covered: {}.", self.not_covered.join(", ")));
        }
        sentence
    }
}

impl Witness {
    /// The database, the arguments and both answers, a note for each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.rows.iter().map(|(table, rows)| self.table(table, rows)).collect();
        if !self.args.is_empty() {
            let args = self.args.iter().map(|(name, word)| format!("{name} = {}", shown(word)));
            notes.push(format!("with {}", args.collect::<Vec<_>>().join(", ")));
        }
        notes.push(answer("SQLite", &self.sqlite));
        notes.push(answer("Postgres", &self.pg));
        notes
    }

    /// The rows of a table with the columns that either page names.
    fn table(&self, name: &str, rows: &[BTreeMap<String, String>]) -> String {
        let all: BTreeSet<&String> = rows.iter().flat_map(BTreeMap::keys).collect();
        let named = self.named.get(name);
        let mut columns: Vec<&String> =
            all.iter().filter(|column| named.is_some_and(|named| named.contains(**column))).copied().collect();
        if columns.is_empty() {
            columns = all.into_iter().collect();
        }
        columns.truncate(COLUMNS);
        let mut lines: Vec<Vec<String>> = vec![columns.iter().map(|column| (*column).clone()).collect()];
        let value =
            |row: &BTreeMap<String, String>, column: &str| row.get(column).map_or(String::new(), |word| shown(word));
        lines.extend(rows.iter().take(ROWS).map(|row| columns.iter().map(|column| value(row, column)).collect()));
        let widths: Vec<usize> = (0..columns.len())
            .map(|at| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or_default())
            .collect();
        let line = |cells: &Vec<String>| {
            let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let mut text: Vec<String> = lines.iter().map(line).collect();
        if rows.len() > ROWS {
            text.push(format!("and {} more", rows.len() - ROWS));
        }
        format!("{name} holds\n  {}", text.join("\n  "))
    }
}

/// What an engine gave.
fn answer(engine: &str, lines: &[String]) -> String {
    let mut text: Vec<String> = lines.iter().take(ROWS).map(|line| short(line, LETTERS * 4)).collect();
    if lines.len() > ROWS {
        text.push(format!("and {} more", lines.len() - ROWS));
    }
    format!("{engine} gives {}", text.join("\n  "))
}

/// A value as people read it, of its word.
fn shown(word: &str) -> String {
    let text = match word.split_once(':') {
        None => word.to_uppercase(),
        Some(("text", text)) => format!("'{text}'"),
        Some((_, rest)) => rest.to_owned(),
    };
    short(&text, LETTERS)
}

fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most).chain(['…']).collect() }
}

/// A number with commas between its thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut parts: Vec<&str> = if first > 0 { vec![&digits[..first]] } else { Vec::new() };
    parts.extend((first..digits.len()).step_by(3).map(|at| &digits[at..at + 3]));
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_what_was_tried_and_what_was_not() {
        let scope = Scope {
            databases: 23_409,
            rows: 2,
            values: 16,
            noticed: 41,
            changes: 41,
            assumed: vec!["numbers_fit".into()],
            not_covered: vec!["sums of more than two rows".into()],
            ..Scope::default()
        };
        assert_eq!(
            scope.sentence(),
            "equal on all 23,409 databases of up to 2 rows a table over at most 16 values a column (every constant of both \
             pages, its neighbours and NULL); 41 of 41 one-sided changes noticed. Assumed: numbers and sums fit. Not \
             covered: sums of more than two rows."
        );
    }

    #[test]
    fn a_database_is_a_small_table() {
        let row = |id: &str, due: &str| {
            [("id", id), ("due_ms", due), ("body", "text:a")]
                .map(|(name, word)| (name.to_owned(), word.to_owned()))
                .into()
        };
        let witness = Witness {
            rows: [("note".to_owned(), vec![row("int:10", "null"), row("int:2", "int:5")])].into(),
            args: [("now_ms".to_owned(), "int:5".to_owned())].into(),
            sqlite: vec!["id = 10".into()],
            pg: vec!["no row".into()],
            named: [("note".to_owned(), ["id", "due_ms"].map(str::to_owned).into())].into(),
            ..Witness::default()
        };
        let wanted = [
            "note holds\n  due_ms  id\n  NULL    10\n  5       2",
            "with now_ms = 5",
            "SQLite gives id = 10",
            "Postgres gives no row",
        ];
        assert_eq!(witness.notes(), wanted);
    }

    #[test]
    fn thousands_have_commas() {
        assert_eq!([0, 12, 999, 1000, 1_234_567].map(grouped), ["0", "12", "999", "1,000", "1,234,567"]);
    }
}
