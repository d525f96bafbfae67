//! How a project's migrations are named, numbered and marked.

use diglot::Inputs;
use diglot::dialect::{Both, Dialect};
use diglot::schema::runs_one_by_one;

use crate::failure::Failure;

/// From how many digits on a number is a time.
const TIME: usize = 12;

/// What the tool behind the files wants to read in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Goose,
    SqlMigrate,
    Dbmate,
    Other,
}

/// The names and marks of the next step.
pub(super) struct Numbering<'i> {
    inputs: &'i Inputs,
    /// Now, as a number of fourteen digits.
    pub(super) now: String,
}

/// The parts of a name: what stands before the number, the number, what stands behind it, and the end.
struct Name<'s> {
    letter: &'s str,
    digits: &'s str,
    between: &'s str,
    end: &'s str,
}

impl<'s> Name<'s> {
    fn of(stem: &'s str) -> Option<Self> {
        let letter = if stem.starts_with(['V', 'U']) { &stem[..1] } else { "" };
        let rest = &stem[letter.len()..];
        let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
        let behind = &rest[digits.len()..];
        let between = &behind[..behind.find(|c| c != '_' && c != '-').unwrap_or(behind.len())];
        let end = if stem.ends_with(".up") { ".up" } else { "" };
        (!digits.is_empty() && !between.is_empty()).then_some(Self { letter, digits, between, end })
    }
}

impl<'i> Numbering<'i> {
    pub(super) fn new(inputs: &'i Inputs, now: String) -> Self {
        Self { inputs, now }
    }

    /// The path of the next step of each dialect. Both have one name as far as the folders name theirs alike.
    pub(super) fn paths(&self, slug: &str) -> Result<Both<String>, Failure> {
        let all = Both::of(|dialect| self.inputs.migrations(dialect));
        let numbers = all.iter().flatten().filter_map(|(_, stem)| Name::of(stem)?.digits.parse::<u64>().ok());
        let next = numbers.filter(|number| number.to_string().len() < TIME).max().unwrap_or(0) + 1;
        let of = |dialect: Dialect| -> Result<String, Failure> {
            let last = all[dialect].last();
            let stem = match last {
                None => format!("{next:04}_{slug}"),
                Some((_, stem)) => {
                    let name = Name::of(stem).ok_or_else(|| Failure::Step {
                        what: format!("`{stem}` has no number, so nobody can tell which name comes behind it: write the step by hand"),
                    })?;
                    let width = name.digits.len();
                    let number = if width >= TIME { self.later(name.digits) } else { format!("{next:0width$}") };
                    format!("{}{number}{}{slug}{}", name.letter, name.between, name.end)
                }
            };
            let place = self.inputs.config.schema.of(dialect).first().map_or("", String::as_str);
            let folder = last.map(|(file, _)| self.inputs.sources.file(*file).path.as_str());
            let folder = folder.map_or(Some(place), |path| path.rsplit_once('/').map(|(folder, _)| folder));
            let path = format!("{}/{stem}.sql", folder.unwrap_or_default().trim_end_matches('/'));
            match self.inputs.config.schema.stem(dialect, &path) {
                Some(_) => Ok(path),
                None => Err(Failure::Step {
                    what: format!("the schema of {} is no folder of steps ({place})", dialect.title()),
                }),
            }
        };
        let [sqlite, pg] = Dialect::ALL.map(of);
        Ok(Both { sqlite: sqlite?, pg: pg? })
    }

    /// Now, or right behind a number that is later.
    fn later(&self, last: &str) -> String {
        let now = self.now.get(..last.len()).unwrap_or(&self.now);
        if now > last {
            now.to_owned()
        } else {
            last.parse::<u64>().map_or_else(|_| now.to_owned(), |last| (last + 1).to_string())
        }
    }

    fn tool(&self, dialect: Dialect) -> Tool {
        let last = self
            .inputs
            .migrations(dialect)
            .last()
            .map_or("", |(file, _)| self.inputs.sources.file(*file).text.as_str());
        let has = |mark: &str| last.lines().any(|line| line.trim().to_lowercase().starts_with(mark));
        if has("-- +goose up") {
            Tool::Goose
        } else if has("-- +migrate up") {
            Tool::SqlMigrate
        } else if has("-- migrate:up") {
            Tool::Dbmate
        } else {
            Tool::Other
        }
    }

    /// The first lines of a step; `alone` if its statements are no transaction.
    pub(super) fn head(&self, dialect: Dialect, alone: bool) -> String {
        let texts = || Dialect::ALL.into_iter().flat_map(|dialect| self.inputs.migrations(dialect));
        let text = |file| self.inputs.sources.file(file).text.as_str();
        match (self.tool(dialect), alone) {
            (Tool::Goose, true) => "-- +goose NO TRANSACTION\n-- +goose Up\n".to_owned(),
            (Tool::Goose, false) => "-- +goose Up\n".to_owned(),
            (Tool::SqlMigrate, true) => "-- +migrate Up notransaction\n".to_owned(),
            (Tool::SqlMigrate, false) => "-- +migrate Up\n".to_owned(),
            (Tool::Dbmate, true) => "-- migrate:up transaction:false\n".to_owned(),
            (Tool::Dbmate, false) => "-- migrate:up\n".to_owned(),
            (Tool::Other, false) => String::new(),
            (Tool::Other, true) => {
                let mut alone = texts().map(|(file, _)| text(file)).filter(|text| runs_one_by_one(text));
                let own = alone.any(|text| text.starts_with("-- diglot: no-transaction"));
                if own { "-- diglot: no-transaction\n".to_owned() } else { "-- no-transaction\n".to_owned() }
            }
        }
    }

    /// A statement as the tool reads it: goose wants a mark around one that has semicolons in it.
    pub(super) fn statement(&self, dialect: Dialect, sql: &str) -> String {
        let sql = format!("{};\n", sql.trim().trim_end_matches(';').trim_end());
        let has_body = sql.trim_end().trim_end_matches(';').contains(';');
        match self.tool(dialect) {
            Tool::Goose if has_body => format!("-- +goose StatementBegin\n{sql}-- +goose StatementEnd\n"),
            Tool::SqlMigrate if has_body => format!("-- +migrate StatementBegin\n{sql}-- +migrate StatementEnd\n"),
            _ => sql,
        }
    }
}

#[cfg(test)]
mod tests {
    use diglot::source::SourceFile;

    use super::*;

    fn paths(names: [&str; 2], text: &str) -> (String, String, String) {
        let mut inputs = Inputs::default();
        for (dialect, name) in Dialect::ALL.into_iter().zip(names) {
            inputs.sources.add(SourceFile::new(format!("schema/{dialect}/{name}.sql"), text));
        }
        let numbering = Numbering::new(&inputs, "20260102030405".to_owned());
        let Both { sqlite, pg } = numbering.paths("hue").unwrap();
        (sqlite, pg, numbering.head(Dialect::Pg, true))
    }

    #[test]
    fn names_go_on_as_they_are_in_each_folder() {
        for (names, sqlite, pg) in [
            (["0009_a", "0012_b"], "0013_hue", "0013_hue"),
            (["V2__a", "V3__b"], "V4__hue", "V4__hue"),
            (["1_a.up", "001_a"], "2_hue.up", "002_hue"),
            (["20250101000000_a", "0001_a"], "20260102030405_hue", "0002_hue"),
            (["20300101000000_a", "20300101000000_a"], "20300101000001_hue", "20300101000001_hue"),
        ] {
            let (ours, theirs, _) = paths(names, "");
            assert_eq!((ours, theirs), (format!("schema/sqlite/{sqlite}.sql"), format!("schema/pg/{pg}.sql")));
        }
    }

    #[test]
    fn marks_are_those_of_the_tool_that_reads_the_files() {
        for (text, mark) in [
            ("SELECT 1;", "-- no-transaction\n"),
            ("-- diglot: no-transaction\nSELECT 1;", "-- diglot: no-transaction\n"),
            ("-- +goose Up\nSELECT 1;", "-- +goose NO TRANSACTION\n-- +goose Up\n"),
            ("-- migrate:up\nSELECT 1;", "-- migrate:up transaction:false\n"),
            ("-- +migrate Up\nSELECT 1;", "-- +migrate Up notransaction\n"),
        ] {
            assert_eq!(paths(["0001_a", "0001_a"], text).2, mark);
        }
    }

    #[test]
    fn a_schema_without_numbers_says_so() {
        let mut inputs = Inputs::default();
        inputs.sources.add(SourceFile::new("schema/sqlite/schema.sql", ""));
        let error = Numbering::new(&inputs, String::new()).paths("hue").unwrap_err();
        assert!(error.to_string().contains("`schema` has no number"), "{error}");
    }
}
