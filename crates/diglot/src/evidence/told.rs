//! The words in which evidence is told: what was tried, and a database on which the pages differ.

use std::collections::{BTreeMap, BTreeSet};

use super::{Extent, Scope, Witness};
use crate::config::Assumption;
use crate::project::Detail;

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

/// A table of a witness, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// The table.
    pub name: String,
    /// Its columns: those that either page names, where it names some.
    pub columns: Vec<String>,
    /// Its rows, a value for each column.
    pub rows: Vec<Vec<String>>,
    /// How many rows more there are.
    pub more: usize,
}

/// So much, or all of it.
fn most(detail: Detail, most: usize) -> usize {
    match detail {
        Detail::Short => most,
        Detail::Whole => usize::MAX,
    }
}

impl Witness {
    /// The database, the arguments and both answers, a note for each.
    pub fn notes(&self, detail: Detail) -> Vec<String> {
        let mut notes: Vec<String> = self.grids(detail).iter().map(Grid::text).collect();
        notes.extend(self.referred(detail));
        notes.extend(self.arguments(detail).map(|arguments| format!("with {arguments}")));
        if self.rows.is_empty() {
            notes.insert(0, "all tables are empty".to_owned());
        }
        for (heading, lines) in self.headings().iter().zip(self.answers(detail)) {
            notes.push(format!("{heading} {}", lines.join("\n  ")));
        }
        notes
    }

    /// What stands before either answer: whether it is what an engine gives, why it fails, or what a table holds then.
    pub fn headings(&self) -> [String; 2] {
        ["SQLite", "Postgres"].map(|engine| {
            let both = self.what.starts_with("they fail");
            match self.what.as_str() {
                what if both || what.starts_with(&format!("{engine} fails")) => format!("{engine} fails:"),
                what if what.starts_with("afterwards") => format!("afterwards {engine} has"),
                _ => format!("{engine} gives"),
            }
        })
    }

    /// The rows of each table that says what the pages do.
    pub fn grids(&self, detail: Detail) -> Vec<Grid> {
        let shown = self.rows.iter().filter(|(table, _)| !self.is_referred(table, detail));
        shown.map(|(table, rows)| self.grid(table, rows, detail)).collect()
    }

    /// The tables whose rows are there because others refer to them, in a sentence.
    fn referred(&self, detail: Detail) -> Option<String> {
        let names: Vec<&str> =
            self.rows.keys().filter(|table| self.is_referred(table, detail)).map(String::as_str).collect();
        let (last, first) = names.split_last()?;
        let all = if first.is_empty() { (*last).to_owned() } else { format!("{} and {last}", first.join(", ")) };
        Some(format!("these refer to rows of {all}"))
    }

    fn is_referred(&self, table: &str, detail: Detail) -> bool {
        detail == Detail::Short && !self.named.is_empty() && !self.named.contains_key(table)
    }

    /// The arguments, `name = value` each.
    pub fn arguments(&self, detail: Detail) -> Option<String> {
        let each = self.args.iter().map(|(name, word)| format!("{name} = {}", shown(word, detail)));
        (!self.args.is_empty()).then(|| each.collect::<Vec<_>>().join(", "))
    }

    /// Both answers, line by line.
    pub fn answers(&self, detail: Detail) -> [Vec<String>; 2] {
        [&self.sqlite, &self.pg].map(|lines| answer(lines, detail))
    }

    fn grid(&self, name: &str, rows: &[BTreeMap<String, String>], detail: Detail) -> Grid {
        let all: BTreeSet<&String> = rows.iter().flat_map(BTreeMap::keys).collect();
        let named = self.named.get(name).filter(|_| detail == Detail::Short);
        let mut columns: Vec<String> =
            all.iter().filter(|column| named.is_some_and(|named| named.contains(**column))).copied().cloned().collect();
        if columns.is_empty() {
            columns = all.into_iter().cloned().collect();
        }
        columns.truncate(most(detail, COLUMNS));
        let value = |row: &BTreeMap<String, String>, column: &String| {
            row.get(column).map_or(String::new(), |word| shown(word, detail))
        };
        let count = most(detail, ROWS);
        let shown =
            rows.iter().take(count).map(|row| columns.iter().map(|column| value(row, column)).collect()).collect();
        Grid { name: name.to_owned(), columns, rows: shown, more: rows.len().saturating_sub(count) }
    }
}

impl Grid {
    /// The table in columns of equal width, under its name.
    pub fn text(&self) -> String {
        let lines: Vec<&Vec<String>> = [&self.columns].into_iter().chain(&self.rows).collect();
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|at| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or_default())
            .collect();
        let line = |cells: &&Vec<String>| {
            let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let mut text: Vec<String> = lines.iter().map(line).collect();
        if self.more > 0 {
            text.push(format!("and {} more", self.more));
        }
        format!("{} holds\n  {}", self.name, text.join("\n  "))
    }
}

/// What an engine gave.
fn answer(lines: &[String], detail: Detail) -> Vec<String> {
    let (count, letters) = (most(detail, ROWS), most(detail, LETTERS * 4));
    let mut text: Vec<String> = lines.iter().take(count).map(|line| short(line, letters)).collect();
    if lines.len() > count {
        text.push(format!("and {} more", lines.len() - count));
    }
    text
}

/// A value as people read it, of its word.
fn shown(word: &str, detail: Detail) -> String {
    let text = match word.split_once(':') {
        None => word.to_uppercase(),
        Some(("text", text)) => format!("'{text}'"),
        Some((_, rest)) => rest.to_owned(),
    };
    short(&text, most(detail, LETTERS))
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
            what: "the rows differ".into(),
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
        assert_eq!(witness.notes(Detail::Short), wanted);
        let whole = witness.notes(Detail::Whole);
        assert_eq!(whole[0], "note holds\n  body  due_ms  id\n  'a'   NULL    10\n  'a'   5       2");
        assert_eq!(whole[1..], wanted[1..]);
        let parents = ["lane", "shop"].map(|table| (table.to_owned(), vec![row("int:1", "null")]));
        let rows = witness.rows.clone().into_iter().chain(parents).collect();
        let referring = Witness { rows, ..witness };
        assert_eq!(referring.notes(Detail::Short)[1], "these refer to rows of lane and shop");
        assert_eq!(referring.notes(Detail::Whole).len(), wanted.len() + 2);
    }

    #[test]
    fn an_answer_is_told_for_what_it_is() {
        let headings = |what: &str| Witness { what: what.into(), ..Witness::default() }.headings();
        assert_eq!(headings("the rows differ"), ["SQLite gives", "Postgres gives"]);
        assert_eq!(headings("SQLite fails and Postgres does not"), ["SQLite fails:", "Postgres gives"]);
        assert_eq!(headings("Postgres fails and SQLite does not"), ["SQLite gives", "Postgres fails:"]);
        assert_eq!(headings("they fail for different kinds of reasons"), ["SQLite fails:", "Postgres fails:"]);
        assert_eq!(headings("afterwards the rows of job differ"), ["afterwards SQLite has", "afterwards Postgres has"]);
        assert_eq!(Witness::default().notes(Detail::Short)[0], "all tables are empty");
    }

    #[test]
    fn thousands_have_commas() {
        assert_eq!([0, 12, 999, 1000, 1_234_567].map(grouped), ["0", "12", "999", "1,000", "1,234,567"]);
    }
}
