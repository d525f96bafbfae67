//! Migrations of SQLite on rows.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use diglot::dialect::Dialect;
use diglot::schema::runs_one_by_one;
use diglot_tools::prove::{Answer, Case, Fault, Ran, Rows, SqliteConnection as _, Subject, Table};
use rusqlite::backup::Backup;
use sea_query::{Asterisk, Query, SqliteQueryBuilder};

use super::{Refused, Sqlite, fault};
use crate::failure::Failure;
use crate::prepare::sqlite::without_stubs;
use crate::prove::engines::Reference;

/// What stands beside the rows of a database, and a migration may lose.
#[derive(Debug, Default)]
pub(in crate::prove) struct Beside {
    pub(in crate::prove) tables: BTreeSet<String>,
    /// Triggers, each with its table.
    pub(in crate::prove) triggers: BTreeSet<(String, String)>,
    pub(in crate::prove) references: BTreeSet<Reference>,
    /// What leads to nothing, in words.
    pub(in crate::prove) broken: BTreeSet<String>,
}

/// The references of tables, column by column.
const REFERENCES: &str = "SELECT lower(m.name), f.id, lower(f.\"from\"), lower(f.\"table\"), \
        CASE WHEN f.on_delete IN ('NO ACTION', 'RESTRICT') THEN '' ELSE lower(f.on_delete) END \
    FROM sqlite_master AS m, pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table' ORDER BY 1, 2, 3";

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
        let refused = job.fill(self, case);
        if !refused.is_empty() {
            self.end()?;
            return Ok(Err(refused));
        }
        job.clear(self)?;
        self.plain("COMMIT").map_err(Failure::sqlite("fill SQLite"))?;
        self.is_settled = true;
        Ok(Ok(()))
    }

    /// Runs migrations on a case's rows and takes all of it back: what the tables hold behind them, or why they end.
    pub(in crate::prove) fn step(
        &mut self,
        before: &Subject,
        case: &Case,
        texts: &[&str],
        after: &Subject,
    ) -> Result<Ran, Failure> {
        // What ends a transaction cannot be taken back.
        if texts.iter().any(|text| stands_alone(text)) {
            return self.copy()?.stepped(before, case, texts, after, true);
        }
        let ran = self.stepped(before, case, texts, after, false);
        self.end()?;
        ran
    }

    fn copy(&self) -> Result<Self, Failure> {
        let mut copy = Self::bare()?;
        let copied = Backup::new(&self.connection, &mut copy.connection)
            .and_then(|backup| backup.run_to_completion(i32::MAX, Duration::ZERO, None))
            .and_then(|()| copy.look());
        copied.map_err(Failure::sqlite("copy SQLite"))?;
        Ok(copy)
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
        let refused = job.fill(self, case);
        if !refused.is_empty() {
            return Ok(Ran::Refused(refused));
        }
        job.clear(self)?;
        let was = self.lost_rows();
        if alone {
            self.plain("COMMIT").map_err(Failure::sqlite("fill SQLite"))?;
        }
        let run = texts.iter().try_for_each(|text| if alone { self.migrated(text) } else { self.ran(text) });
        let result = run.and_then(|()| match self.lost_rows().difference(&was).next() {
            Some(words) => Err(Fault::of(words.clone())),
            None => Ok(()),
        });
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

    /// Rows whose references lead to nothing, in words. Where there is no table at all [`Self::beside`] says so.
    fn lost_rows(&self) -> BTreeSet<String> {
        let lost = "SELECT 'a row of ' || lower(\"table\") || ' refers to a row of ' || lower(parent) || ' that is gone' \
            FROM pragma_foreign_key_check";
        self.words(lost).unwrap_or_default().into_iter().collect()
    }

    /// What stands beside the rows.
    pub(in crate::prove) fn beside(&self) -> Result<Beside, Failure> {
        let read = || -> Result<Beside, rusqlite::Error> {
            let mut beside = Beside { tables: self.tables()?.into_iter().collect(), ..Beside::default() };
            let triggers = "SELECT lower(name), lower(tbl_name) FROM sqlite_master WHERE type = 'trigger'";
            let mut named = self.connection.prepare(triggers)?;
            beside.triggers = named.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
            for view in self.words("SELECT name FROM sqlite_master WHERE type = 'view'")? {
                let all = Query::select().column(Asterisk).from(view.clone()).to_string(SqliteQueryBuilder);
                if let Err(error) = self.connection.prepare(&all) {
                    beside.broken.insert(format!("the view {view} cannot be read on SQLite: {}", fault(error).words));
                }
            }
            let mut columns: BTreeMap<(String, i64, String, String), Vec<String>> = BTreeMap::new();
            let mut found = self.connection.prepare(REFERENCES)?;
            let mut rows = found.query([])?;
            while let Some(row) = rows.next()? {
                let reference = (row.get(0)?, row.get(1)?, row.get(3)?, row.get(4)?);
                columns.entry(reference).or_default().push(row.get(2)?);
            }
            for ((table, _, parent, action), columns) in columns {
                if !beside.tables.contains(&parent) {
                    beside.broken.insert(format!("{table} refers to {parent} on SQLite, which is no table"));
                }
                beside.references.insert((table, columns.join(", "), parent, action));
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
