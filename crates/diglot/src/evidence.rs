//! What running both pages of a pair on small databases has shown, as it is recorded.
//!
//! `cargo diglot prepare` runs every pair and hands what came of it to this module; one file, [`FILE`] beside the
//! engines' other answers, holds it. [`compile`](crate::compile) reads that file, so a build asks nobody. A record names
//! what it rests on by a digest: the texts of both pages, the parts of both schemas and the settings that they are run
//! with. It says nothing once one of these is another. Nothing here reads or writes a file.

mod basis;
mod told;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub(crate) use basis::{Basis, digest_of};
pub use told::Grid;

/// The file beside the query files.
pub const FILE: &str = "evidence.json";
/// The layout of the file, and how databases are made for it: another number is as good as no evidence.
pub const VERSION: u32 = 1;

/// The whole file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The layout's number, [`VERSION`].
    pub version: u32,
    /// Both engines with their versions.
    pub engines: String,
    /// What is known of each pair, by its name.
    pub pairs: BTreeMap<String, Record>,
    /// What is known of the migrations, in the order in which they run.
    #[serde(default)]
    pub steps: Vec<Step>,
}

/// What running some migrations of both dialects on rows has shown: those that lead from one point at which both schemas
/// have the same tables to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The names of its files.
    pub name: String,
    /// How many migrations of SQLite have run at its end.
    pub sqlite_files: usize,
    /// How many of Postgres.
    pub pg_files: usize,
    /// The digest of all migrations up to its end, and of the settings that rows are made by.
    pub basis: String,
    /// What running has shown.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// What is known of a pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The digest of everything that it rests on.
    pub basis: String,
    /// What running has shown.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// What running both pages has shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Both pages gave the same on all databases that were tried.
    Same(Scope),
    /// A database on which they do not, the smallest that was found.
    Differs(Box<Witness>),
    /// Nothing can be said.
    Unknown {
        /// Why.
        reason: String,
    },
}

/// Which databases were tried.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// How many databases and arguments were tried.
    pub databases: usize,
    /// How many rows a table they hold at most.
    pub rows: usize,
    /// How many values a column or a parameter takes at most.
    pub values: usize,
    /// How far the databases of that size were tried.
    pub extent: Extent,
    /// How many one-sided changes of the pair's own pages the same databases notice.
    pub noticed: usize,
    /// How many one-sided changes were made.
    pub changes: usize,
    /// Conditions of the SQLite page that decide nothing on any of the databases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<String>,
    /// What was assumed, where it kept a value out: keys of `[assume]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
    /// What the databases do not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_covered: Vec<String>,
}

/// How far the databases of a size were tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// Each of them.
    #[default]
    Whole,
    /// So that every two values of a row, and every two rows, meet once.
    Pairs,
    /// So that every value occurs.
    Values,
}

/// A database and arguments on which the pages do not give the same. Values are words as in a kept case of `prove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// What differs, in a few words.
    pub what: String,
    /// Whether it takes values that few programs write: the end of a number's width, a document of another kind.
    #[serde(default, skip_serializing_if = "is_false")]
    pub edge: bool,
    /// What excludes such values, by its key of `[assume]`: the columns and parameters that hold them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub excluded_by: BTreeMap<String, BTreeSet<String>>,
    /// The rows of each table.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rows: BTreeMap<String, Vec<BTreeMap<String, String>>>,
    /// The arguments.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<String, String>,
    /// What SQLite gave, line by line.
    pub sqlite: Vec<String>,
    /// What Postgres gave.
    pub pg: Vec<String>,
    /// The columns of the result that differ, where single ones do.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub columns: BTreeSet<String>,
    /// The columns of each table that either page names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub named: BTreeMap<String, BTreeSet<String>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_false(is: &bool) -> bool {
    !is
}

impl Evidence {
    /// The text of the file: a line for each pair, and several for one that differs, so that a review sees what changed.
    pub fn to_text(&self) -> String {
        let mut text =
            format!("{{\n\"version\": {},\n\"engines\": {},\n\"pairs\": {{", self.version, json(&self.engines));
        for (at, (name, record)) in self.pairs.iter().enumerate() {
            text.push_str(if at == 0 { "\n" } else { ",\n" });
            let record = match &record.verdict {
                Verdict::Differs(_) => serde_json::to_string_pretty(record).unwrap_or_default(),
                _ => json(record),
            };
            text.push_str(&format!("{}: {record}", json(name)));
        }
        text.push_str("\n},\n\"steps\": [");
        for (at, step) in self.steps.iter().enumerate() {
            text.push_str(if at == 0 { "\n" } else { ",\n" });
            text.push_str(&match &step.verdict {
                Verdict::Differs(_) => serde_json::to_string_pretty(step).unwrap_or_default(),
                _ => json(step),
            });
        }
        text.push_str("\n]\n}\n");
        text
    }

    /// Reads the file; another layout counts as no evidence.
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str::<Self>(text).ok().filter(|evidence| evidence.version == VERSION)
    }

    /// What is known of a pair, if it rests on this.
    pub fn of(&self, name: &str, basis: &str) -> Option<&Verdict> {
        self.pairs.get(name).filter(|record| record.basis == basis).map(|record| &record.verdict)
    }

    /// Whether anything is known of a pair, if it rests on this.
    pub fn knows(&self, name: &str, basis: &str) -> bool {
        self.of(name, basis).is_some()
    }

    /// Whether a database is recorded on which a pair differs, as it is now or was once.
    pub(crate) fn shows_that_it_differs(&self, name: &str) -> bool {
        self.pairs.get(name).is_some_and(|record| matches!(record.verdict, Verdict::Differs(_)))
    }
}

/// A value that always has a form in JSON.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence() -> Evidence {
        let same = Scope { databases: 4, rows: 2, values: 3, noticed: 5, changes: 6, ..Scope::default() };
        let differs = Witness { what: "the rows differ".into(), sqlite: vec!["a = 1".into()], ..Witness::default() };
        let record = |verdict| Record { basis: "abc".into(), verdict };
        let pairs = [
            ("note_due", Verdict::Same(same)),
            ("note_list", Verdict::Differs(Box::new(differs))),
            ("note_read", Verdict::Unknown { reason: "SQLite refuses it".into() }),
        ];
        let pairs = pairs.map(|(name, verdict)| (name.to_owned(), record(verdict)));
        let step = |name: &str, at, verdict| Step {
            name: name.to_owned(),
            sqlite_files: at,
            pg_files: at,
            basis: "abc".into(),
            verdict,
        };
        let tried = Verdict::Same(Scope { databases: 3, ..Scope::default() });
        let refused = Witness { what: "they fail".into(), sqlite: vec!["no".into()], ..Witness::default() };
        let steps = vec![step("0001_note", 1, tried), step("0002_due", 2, Verdict::Differs(Box::new(refused)))];
        Evidence { version: VERSION, engines: "SQLite 3, Postgres 15".into(), pairs: pairs.into(), steps }
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let evidence = evidence();
        assert_eq!(Evidence::parse(&evidence.to_text()), Some(evidence));
    }

    #[test]
    fn a_pair_that_is_the_same_is_one_line() {
        let text = evidence().to_text();
        let line = text.lines().find(|line| line.contains("note_due")).unwrap();
        assert!(line.starts_with("\"note_due\": {") && line.ends_with("},"), "{text}");
    }

    #[test]
    fn a_record_holds_for_its_basis_alone() {
        let evidence = evidence();
        assert!(evidence.of("note_due", "abc").is_some());
        assert!(evidence.of("note_due", "abd").is_none() && evidence.of("note_other", "abc").is_none());
    }

    #[test]
    fn another_layout_is_no_evidence() {
        let other = Evidence { version: VERSION + 1, ..evidence() };
        assert_eq!(Evidence::parse(&other.to_text()), None);
    }
}
