//! Migrations of SQLite on rows.

use std::collections::BTreeSet;

use diglot::dialect::Dialect;
use diglot::prove::{Answer, Case, Fault, Rows, Subject, Table};
use diglot::schema::runs_one_by_one;
use sea_query::{Asterisk, Query, SqliteQueryBuilder};

use super::{Ran, Refused, Sqlite, fault};
use crate::failure::Failure;
use crate::prepare::sqlite::without_stubs;

/// What stands beside the rows of a database, and a migration may break.
#[derive(Default)]
struct Beside {
    /// Triggers, each with its table.
    triggers: BTreeSet<(String, String)>,
    /// What leads to nothing, in words.
    broken: BTreeSet<String>,
}

const READING: &str = "read SQLite's schema";

impl Sqlite {
    /// A database without tables.
    pub(in crate::prove) fn empty() -> Result<Self, Failure> {
        Self::bare()
    }

    /// Runs migrations for good; what they put into tables goes.
    pub(in crate::prove) fn take(&mut self, texts: &[&str]) -> Result<Result<(), Fault>, Failure> {
        if let Err(refused) = texts.iter().try_for_each(|text| self.migrated(text)) {
            return Ok(Err(refused));
        }
        self.prepare_tables().map_err(Failure::sqlite("empty the tables of SQLite"))?;
        Ok(Ok(()))
    }

    /// Runs migrations on the rows that are there.
    pub(in crate::prove) fn go_on(&mut self, texts: &[&str]) -> Result<Result<(), Fault>, Failure> {
        if let Err(refused) = texts.iter().try_for_each(|text| self.migrated(text)) {
            return Ok(Err(refused));
        }
        self.look().map_err(Failure::sqlite(READING))?;
        Ok(Ok(()))
    }

    /// Puts a case's rows there to stay, for all cases that follow; those that do not go in, and then none does.
    pub(in crate::prove) fn settle(&mut self, subject: &Subject, case: &Case) -> Result<Refused, Failure> {
        let job = self.job(subject);
        self.plain("BEGIN").map_err(Failure::sqlite("begin on SQLite"))?;
        let refused = self.fill(&job, case);
        if !refused.is_empty() {
            self.end()?;
            return Ok(Err(refused));
        }
        self.clear(&job)?;
        self.plain("COMMIT").map_err(Failure::sqlite("fill SQLite"))?;
        self.is_settled = true;
        Ok(Ok(()))
    }

    /// Runs migrations on a case's rows and takes all of it back: what the tables hold behind them, or why they end. `so_far`
    /// are those that have run.
    pub(in crate::prove) fn step(
        &mut self,
        before: &Subject,
        case: &Case,
        (so_far, texts): (&[String], &[&str]),
        after: &Subject,
    ) -> Result<Ran, Failure> {
        // What ends a transaction cannot be taken back.
        if texts.iter().any(|text| stands_alone(text)) {
            let mut copy = Self::empty()?;
            let all: Vec<&str> = so_far.iter().map(String::as_str).collect();
            copy.take(&all)?
                .map_err(|fault| Failure::Table { what: "migrate SQLite".to_owned(), message: fault.words })?;
            return copy.stepped(before, case, texts, after, true);
        }
        let ran = self.stepped(before, case, texts, after, false);
        self.end()?;
        ran
    }

    fn stepped(
        &self,
        before: &Subject,
        case: &Case,
        texts: &[&str],
        after: &Subject,
        alone: bool,
    ) -> Result<Ran, Failure> {
        let job = self.job(before);
        self.plain("BEGIN").map_err(Failure::sqlite("begin on SQLite"))?;
        let refused = self.fill(&job, case);
        if !refused.is_empty() {
            return Ok(Ran::Refused(refused));
        }
        self.clear(&job)?;
        let was = self.beside()?;
        if alone {
            self.plain("COMMIT").map_err(Failure::sqlite("fill SQLite"))?;
        }
        let run = texts.iter().try_for_each(|text| if alone { self.migrated(text) } else { self.ran(text) });
        let result = match run {
            Ok(()) => self.kept(&was, texts)?,
            refused => refused,
        };
        let tables = if result.is_ok() { self.rows(after)? } else { Vec::new() };
        Ok(Ran::Answered(Answer {
            result: result.map(|()| (Rows::new(), 0)),
            tables,
            taken: BTreeSet::new(),
            manner: "",
        }))
    }

    /// What the tables hold that a subject looks at.
    pub(in crate::prove) fn rows(&self, subject: &Subject) -> Result<Vec<Rows>, Failure> {
        let of_table = |table: &Table| {
            let rows = self.part(&table.select(Dialect::Sqlite), &[]);
            let failed =
                |fault: Fault| Failure::Table { what: format!("read {} on SQLite", table.name), message: fault.words };
            rows.map(|(rows, _)| rows).map_err(failed)
        };
        subject.compared.iter().map(of_table).collect()
    }

    /// Runs a migration as migrators do: as one transaction, unless it says otherwise.
    fn migrated(&self, text: &str) -> Result<(), Fault> {
        if stands_alone(text) {
            return self.ran(text);
        }
        self.plain("BEGIN").map_err(fault)?;
        let ran = self.ran(text);
        let end = if ran.is_ok() { "COMMIT" } else { "ROLLBACK" };
        ran.and_then(|()| self.plain(end).map_err(fault)).inspect_err(|_| drop(self.end()))
    }

    fn ran(&self, text: &str) -> Result<(), Fault> {
        self.batch(&without_stubs(text)).map(drop).map_err(fault)
    }

    /// Whether what stood beside the rows still does.
    fn kept(&self, was: &Beside, texts: &[&str]) -> Result<Result<(), Fault>, Failure> {
        let is = self.beside()?;
        let tables: BTreeSet<String> = self.tables().map_err(Failure::sqlite(READING))?.into_iter().collect();
        let said = texts.iter().map(|text| text.to_lowercase()).collect::<String>();
        let gone = was.triggers.difference(&is.triggers).find(|(name, table)| {
            tables.contains(table)
                && !said.contains(&format!("drop trigger {name}"))
                && !said.contains(&format!("exists {name}"))
        });
        if let Some((name, table)) = gone {
            let words = format!("the trigger {name} is gone, with the table {table} that was built anew");
            return Ok(Err(Fault::of(words)));
        }
        Ok(match is.broken.difference(&was.broken).next() {
            Some(words) => Err(Fault::of(words.clone())),
            None => Ok(()),
        })
    }

    fn beside(&self) -> Result<Beside, Failure> {
        let read = || -> Result<Beside, rusqlite::Error> {
            let mut beside = Beside::default();
            let tables = self.tables()?;
            let mut named = self
                .connection
                .prepare("SELECT lower(name), lower(tbl_name) FROM sqlite_master WHERE type = 'trigger'")?;
            beside.triggers = named.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
            for view in self.words("SELECT name FROM sqlite_master WHERE type = 'view'")? {
                let all = Query::select().column(Asterisk).from(view.clone()).to_string(SqliteQueryBuilder);
                if let Err(error) = self.connection.prepare(&all) {
                    beside.broken.insert(format!("the view {view} cannot be read: {}", fault(error).words));
                }
            }
            for table in &tables {
                let mut keys = self.connection.prepare("SELECT lower(\"table\") FROM pragma_foreign_key_list(?1)")?;
                let parents: Vec<String> = keys.query_map([table], |row| row.get(0))?.collect::<Result<_, _>>()?;
                for parent in parents.iter().filter(|parent| !tables.contains(parent)) {
                    beside.broken.insert(format!("{table} refers to {parent}, which is no table"));
                }
            }
            // A reference to no table is told above, and cannot be checked.
            if beside.broken.is_empty() {
                let mut lost =
                    self.connection.prepare("SELECT lower(\"table\"), lower(parent) FROM pragma_foreign_key_check")?;
                let mut rows = lost.query([])?;
                while let Some(row) = rows.next()? {
                    let (table, parent): (String, String) = (row.get(0)?, row.get(1)?);
                    beside.broken.insert(format!("a row of {table} refers to a row of {parent} that is gone"));
                }
            }
            Ok(beside)
        };
        read().map_err(Failure::sqlite(READING))
    }
}

/// Whether a migration is no single transaction.
fn stands_alone(text: &str) -> bool {
    let first = |line: &str| line.split_whitespace().next().unwrap_or_default().trim_end_matches(';').to_lowercase();
    runs_one_by_one(text)
        || text.lines().any(|line| matches!(first(line).as_str(), "begin" | "commit") && line.trim_end().ends_with(';'))
}
