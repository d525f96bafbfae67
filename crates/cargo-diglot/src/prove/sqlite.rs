//! Runs cases on SQLite, in a database in memory that every case leaves as it was.
//!
//! A call of the asynchronous driver costs more than a small statement does, so the library is called directly: the same
//! one, which that driver brings. Units are run part by part, as that driver does with their text.

mod steps;

pub(super) use steps::Beside;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use diglot::dialect::Dialect;
use diglot::prove::{Answer, Case, Each, Fault, Judge, NEW_IDS, Rows, Subject, Value};
use diglot::{EmittedText, Inputs};
use rusqlite::config::DbConfig;
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::types::{Value as Bound, ValueRef};
use rusqlite::{Batch, Connection, Statement, ffi};
use sea_query::{DeleteStatement, Expr, ExprTrait as _, InsertStatement, SqliteQueryBuilder};

use super::engines::{CHECK, ENDLESS, MOST_ROWS, NOT_NULL, REFERENCE, Refused, UNIQUE};
use super::{Ran, arguments, same_rows};
use crate::failure::Failure;
use crate::prepare::{migrations, sqlite::without_stubs};

/// Where SQLite keeps the numbers of AUTOINCREMENT.
const NUMBERS: &str = "sqlite_sequence";
/// How many statements stay prepared: more than a pair has, with all its variants, the tables that it is compared by and
/// every change of its page.
const PREPARED: usize = 2048;

/// How many steps of its machine make a tick.
const TICK: i32 = 100_000;
/// How many ticks a statement may take: a small database needs a thousandth of that.
const TICKS: u32 = 200;

pub(super) struct Sqlite {
    connection: Connection,
    /// How many ticks the statement that runs took.
    ticks: Arc<AtomicU32>,
    /// Tables that number their rows by AUTOINCREMENT.
    numbered: BTreeSet<String>,
    /// Tables into which rows go one by one, because triggers look at them.
    apart: BTreeSet<String>,
    /// Whether rows are there that stay, and no case brings its own.
    is_settled: bool,
}

/// What a pair's cases have in common.
struct Job<'s> {
    subject: &'s Subject,
    clearings: Vec<String>,
    /// Where new numbers begin.
    numbers: String,
    /// The queries for the tables that are compared.
    tables: Vec<String>,
}

/// Asks a SQLite without tables whether conditions hold of values.
pub(super) fn judge() -> Result<Judge, Failure> {
    let connection = Connection::open_in_memory().map_err(Failure::sqlite("open SQLite in memory"))?;
    let connection = Mutex::new(connection);
    Ok(Judge::new(move |query| {
        let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
        connection.query_row(query, [], |row| Ok(row.get_ref(0).map(|raw| value(raw).ok()))).ok()?.ok()?
    }))
}

impl Sqlite {
    /// A database with the project's schema.
    pub(super) fn open(inputs: &Inputs) -> Result<Self, Failure> {
        let mut sqlite = Self::bare()?;
        for (file, text) in migrations(inputs, Dialect::Sqlite) {
            let path = &inputs.sources.file(file).path;
            sqlite.batch(&without_stubs(text)).map_err(Failure::sqlite(format!("run {path} on SQLite")))?;
        }
        sqlite.prepare_tables().map_err(Failure::sqlite("empty the tables of SQLite"))?;
        Ok(sqlite)
    }

    fn bare() -> Result<Self, Failure> {
        let opened = Connection::open_in_memory().and_then(|connection| {
            connection.pragma_update(None, "foreign_keys", true)?;
            connection.set_prepared_statement_cache_capacity(PREPARED);
            // A plan that asks what is bound is made anew for each case.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
            let ticks = Arc::new(AtomicU32::new(0));
            let counted = Arc::clone(&ticks);
            connection.progress_handler(TICK, Some(move || counted.fetch_add(1, Ordering::Relaxed) >= TICKS))?;
            Ok(Self { connection, ticks, numbered: BTreeSet::new(), apart: BTreeSet::new(), is_settled: false })
        });
        opened.map_err(Failure::sqlite("open SQLite in memory"))
    }

    /// What the migrations put there would be in the way of the cases; so would references between it here.
    fn prepare_tables(&mut self) -> Result<(), rusqlite::Error> {
        let tables = self.tables()?.into_iter();
        let emptied = tables.map(|table| DeleteStatement::new().from_table(table).to_string(SqliteQueryBuilder) + "; ");
        let clear = format!("PRAGMA foreign_keys = OFF; {}PRAGMA foreign_keys = ON", emptied.collect::<String>());
        self.batch(&clear)?;
        self.look()
    }

    /// Looks how its tables number their rows, and which of them have triggers.
    fn look(&mut self) -> Result<(), rusqlite::Error> {
        let named = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'";
        self.numbered = self.words(named)?.into_iter().collect();
        let triggered = "SELECT lower(tbl_name) FROM sqlite_master WHERE type = 'trigger'";
        self.apart = self.words(triggered)?.into_iter().collect();
        Ok(())
    }

    fn tables(&self) -> Result<Vec<String>, rusqlite::Error> {
        self.words("SELECT lower(name) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    }

    fn words(&self, sql: &str) -> Result<Vec<String>, rusqlite::Error> {
        self.connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
    }

    /// Its name with its version.
    pub(super) fn version() -> String {
        format!("SQLite {}", rusqlite::version())
    }

    /// What views read and triggers may write.
    pub(super) fn relations(&self) -> Result<BTreeMap<String, BTreeSet<String>>, Failure> {
        let query = "SELECT lower(tbl_name), lower(sql) FROM sqlite_master WHERE type IN ('view', 'trigger')";
        let read = || -> Result<_, rusqlite::Error> {
            let mut statement = self.connection.prepare(query)?;
            let texts: Result<Vec<(String, String)>, _> =
                statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect();
            Ok(super::report::mentioned(&self.tables()?, &texts?))
        };
        read().map_err(Failure::sqlite("read SQLite's schema"))
    }

    /// Whether it takes a text.
    pub(super) fn takes(&self, text: &EmittedText) -> Result<(), Fault> {
        let mut parts = Batch::new(&self.connection, &text.sql);
        parts.next().map(|_| ()).map_err(fault)
    }

    /// Runs cases and takes each back. Those that follow each other and have the same rows share them.
    pub(super) fn run(&mut self, subject: &Subject, cases: &[&Case]) -> Result<Vec<Ran>, Failure> {
        let job = self.job(subject);
        let mut ran = Vec::with_capacity(cases.len());
        for together in cases.chunk_by(|a, b| same_rows(a, b)) {
            ran.extend(self.together(&job, together)?);
            self.end()?;
        }
        Ok(ran)
    }

    fn job<'s>(&self, subject: &'s Subject) -> Job<'s> {
        Job {
            subject,
            clearings: subject.clearings(),
            numbers: self.numbers(subject),
            tables: subject.compared.iter().map(|table| table.select(Dialect::Sqlite)).collect(),
        }
    }

    /// Cases with the same rows.
    fn together(&self, job: &Job<'_>, cases: &[&Case]) -> Result<Vec<Ran>, Failure> {
        let mut ran = Vec::with_capacity(cases.len());
        for case in cases {
            let refused = self.begin(job, case)?;
            if !refused.is_empty() {
                return Ok(cases.iter().map(|_| Ran::Refused(refused.clone())).collect());
            }
            let text = job.subject.variant(case).map(|texts| &texts.sqlite);
            ran.push(Ran::Answered(self.answer(job, text, case)?));
        }
        Ok(ran)
    }

    /// Has a case's rows there and nothing that another statement did; the rows that do not go in.
    fn begin(&self, job: &Job<'_>, case: &Case) -> Result<Vec<(String, usize)>, Failure> {
        // After some errors SQLite has ended the transaction by itself, and the rows are gone with it.
        if self.connection.is_autocommit() {
            self.plain("BEGIN").map_err(Failure::sqlite("begin on SQLite"))?;
            if !self.is_settled {
                let refused = self.fill(job, case);
                if !refused.is_empty() {
                    return Ok(refused);
                }
                self.clear(job)?;
            }
            self.plain("SAVEPOINT statement").map_err(Failure::sqlite("begin on SQLite"))?;
        } else {
            self.back()?;
        }
        if !job.numbers.is_empty() {
            self.batch(&job.numbers).map_err(Failure::sqlite("set where SQLite numbers from"))?;
        }
        Ok(Vec::new())
    }

    /// Runs texts in the place of the page on cases that the page has answered, until each of them gave something else:
    /// takes those out of the open ones, which are named by their places.
    pub(super) fn tell(
        &mut self,
        subject: &Subject,
        texts: &[EmittedText],
        open: &mut Vec<usize>,
        answered: &[(Case, Answer)],
    ) -> Result<(), Failure> {
        let job = self.job(subject);
        let whole = subject.variants.first();
        for together in answered.chunk_by(|(a, _), (b, _)| same_rows(a, b)) {
            for (case, own) in together.iter().filter(|(case, _)| subject.variant(case) == whole) {
                let mut error = None;
                open.retain(|at| {
                    let told = self.begin(&job, case).and_then(|refused| {
                        if !refused.is_empty() {
                            return Ok(false);
                        }
                        let after = self.answer(&job, Some(&texts[*at]), case)?;
                        Ok(after != *own && subject.compare(case, own, &after).is_some())
                    });
                    !told.unwrap_or_else(|failure| {
                        error = Some(failure);
                        false
                    })
                });
                if let Some(failure) = error {
                    return Err(failure);
                }
            }
            self.end()?;
            if open.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn end(&self) -> Result<(), Failure> {
        if self.connection.is_autocommit() {
            return Ok(());
        }
        self.plain("ROLLBACK").map_err(Failure::sqlite("roll back on SQLite"))
    }

    /// Runs a text of this file, which stays prepared.
    fn plain(&self, sql: &str) -> Result<(), rusqlite::Error> {
        self.connection.prepare_cached(sql)?.execute([]).map(|_| ())
    }

    /// Puts the rows there; those that do not go in, by table and place.
    fn fill(&self, job: &Job<'_>, case: &Case) -> Vec<(String, usize)> {
        let fillings = job.subject.fillings(case, Dialect::Sqlite, |table| self.apart.contains(table));
        if fillings.iter().all(|filling| self.batch(&filling.sql).is_ok()) {
            return Vec::new();
        }
        let mut refused = Vec::new();
        self.batch("ROLLBACK; BEGIN").ok();
        for filling in job.subject.fillings(case, Dialect::Sqlite, |_| true) {
            if self.batch(&filling.sql).is_err() {
                refused.push((filling.table, filling.rows.start));
            }
        }
        refused
    }

    fn clear(&self, job: &Job<'_>) -> Result<(), Failure> {
        let clearing = "take out impossible rows on SQLite, as `[prove.impossible]` says";
        for sql in &job.clearings {
            // A row that goes may make another one impossible, and each engine looks at them in its own order.
            let mut cleared = self.connection.prepare_cached(sql).map_err(Failure::sqlite(clearing))?;
            while cleared.execute([]).map_err(Failure::sqlite(clearing))? > 0 {}
        }
        Ok(())
    }

    /// What has the numbers of AUTOINCREMENT begin where new ones do.
    fn numbers(&self, subject: &Subject) -> String {
        if !subject.writes {
            return String::new();
        }
        let tables = subject.tables.iter().chain(&subject.compared).map(|table| &table.name);
        let numbered: BTreeSet<&String> =
            tables.filter(|name| self.numbered.contains(*name) && !subject.numbers.contains(*name)).collect();
        let number = |name: &String| {
            let forget =
                DeleteStatement::new().from_table(NUMBERS).and_where(Expr::col("name").eq(name.as_str())).take();
            let mut begin = InsertStatement::new();
            begin
                .into_table(NUMBERS)
                .columns(["name", "seq"])
                .values_panic([name.as_str().into(), (NEW_IDS - 1).into()]);
            [forget.to_string(SqliteQueryBuilder), begin.to_string(SqliteQueryBuilder)].join("; ")
        };
        numbered.into_iter().map(number).collect::<Vec<_>>().join("; ")
    }

    fn back(&self) -> Result<(), Failure> {
        self.plain("ROLLBACK TO statement").map_err(Failure::sqlite("roll back on SQLite"))
    }

    fn answer(&self, job: &Job<'_>, text: Option<&EmittedText>, case: &Case) -> Result<Answer, Failure> {
        let result = match text {
            Some(text) => self.statement(job.subject, text, case),
            None => Err(Fault::of("no such variant")),
        };
        let mut tables = Vec::new();
        if job.subject.writes {
            // A single statement takes itself back; of a unit some parts have run.
            if result.is_err() && !self.connection.is_autocommit() {
                self.back()?;
            }
            for (table, select) in job.subject.compared.iter().zip(&job.tables) {
                let rows = self.part(select, &[]).map_err(|fault| Failure::Table {
                    what: format!("read {} on SQLite", table.name),
                    message: fault.words,
                })?;
                tables.push(rows.0);
            }
        }
        Ok(Answer { result, tables, taken: BTreeSet::new(), manner: "" })
    }

    fn statement(&self, subject: &Subject, text: &EmittedText, case: &Case) -> Result<(Rows, u64), Fault> {
        if let Some(each) = subject.each() {
            return self.calls(each, text, case);
        }
        let arguments = arguments::sqlite(text, case);
        match self.parts(subject, text, &arguments) {
            Err(fault) if fault.kind == REFERENCE && text.parts.len() > 1 => {
                Err(Fault { beside: self.met_later(subject, text, &arguments)?, ..fault })
            }
            answered => answered,
        }
    }

    /// What else is in the way of statements of which one writes a row that refers to none: what another engine meets first
    /// that takes them as one and looks at references at its end.
    fn met_later(
        &self,
        subject: &Subject,
        text: &EmittedText,
        arguments: &[Bound],
    ) -> Result<Option<&'static str>, Fault> {
        self.batch("ROLLBACK TO statement; PRAGMA defer_foreign_keys = ON").map_err(fault)?;
        let kind = self.parts(subject, text, arguments).err().map(|fault| fault.kind);
        if !self.connection.is_autocommit() {
            self.batch("ROLLBACK TO statement; PRAGMA defer_foreign_keys = OFF").map_err(fault)?;
        }
        Ok(kind)
    }

    /// Runs the statements of a text one after the other.
    fn parts(&self, subject: &Subject, text: &EmittedText, arguments: &[Bound]) -> Result<(Rows, u64), Fault> {
        let single = std::slice::from_ref(&text.sql);
        let parts = if text.parts.len() > 1 { text.parts.as_slice() } else { single };
        let (mut returned, mut written) = (Vec::new(), 0);
        for part in parts {
            match self.part(part, arguments) {
                Ok((rows, count)) => {
                    returned.push(rows);
                    written += count;
                }
                // A unit ends where its guard has no row.
                Err(fault) if text.guarded && fault.words.contains(EmittedText::NO_ROW) => {
                    (returned, written) = (Vec::new(), 0);
                    break;
                }
                Err(fault) => return Err(fault),
            }
        }
        if subject.columns.is_empty() && !subject.is_partial {
            return Ok((Vec::new(), written));
        }
        let rows = match &text.joined {
            Some(joined) => joined.rows(&returned),
            None => returned.into_iter().flatten().collect(),
        };
        Ok((rows, 0))
    }

    /// Runs the calls of a list one after the other.
    fn calls(&self, each: &Each, text: &EmittedText, case: &Case) -> Result<(Rows, u64), Fault> {
        let mut answers = Rows::new();
        for (number, (call, row)) in (1..).zip(each.calls(case)) {
            let (rows, _) = self.statement(each.one(), text, &call)?;
            answers.extend(rows.iter().map(|answered| each.answer(number, &row, answered)));
        }
        Ok((answers, 0))
    }

    /// Runs one statement: its rows, and how many it wrote.
    fn part(&self, sql: &str, arguments: &[Bound]) -> Result<(Rows, u64), Fault> {
        self.ticks.store(0, Ordering::Relaxed);
        let mut statement = self.connection.prepare_cached(sql).map_err(fault)?;
        bind(&mut statement, arguments).map_err(fault)?;
        let (columns, is_read_only) = (statement.column_count(), statement.readonly());
        let mut found = statement.raw_query();
        let mut rows = Rows::new();
        while let Some(row) = found.next().map_err(fault)? {
            let value = |at| row.get_ref(at).map_err(fault).and_then(value);
            rows.push((0..columns).map(value).collect::<Result<_, _>>()?);
            if rows.len() > MOST_ROWS {
                return Err(Fault { kind: ENDLESS, ..Fault::of("too many rows") });
            }
        }
        // What only reads leaves the count of the statement before it.
        Ok((rows, if is_read_only { 0 } else { self.connection.changes() }))
    }

    /// Runs a text of any number of statements and tells how many rows it wrote.
    fn batch(&self, sql: &str) -> Result<u64, rusqlite::Error> {
        self.ticks.store(0, Ordering::Relaxed);
        let before = self.connection.total_changes();
        let mut parts = Batch::new(&self.connection, sql);
        while let Some(mut statement) = parts.next()? {
            let mut rows = statement.raw_query();
            while rows.next()?.is_some() {}
        }
        Ok(self.connection.total_changes() - before)
    }
}

/// Binds what the statement asks for; the rest of a unit's arguments are for its other parts.
fn bind(statement: &mut Statement<'_>, arguments: &[Bound]) -> Result<(), rusqlite::Error> {
    for (at, argument) in arguments.iter().enumerate().take(statement.parameter_count()) {
        statement.raw_bind_parameter(at + 1, argument)?;
    }
    Ok(())
}

fn value(raw: ValueRef<'_>) -> Result<Value, Fault> {
    Ok(match raw {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(n) => Value::Int(n),
        ValueRef::Real(r) => Value::Real(r),
        ValueRef::Text(text) => {
            let lossy = || Value::Other(format!("no UTF-8: {}", String::from_utf8_lossy(text)));
            String::from_utf8(text.to_vec()).map_or_else(|_| lossy(), Value::Text)
        }
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    })
}

/// A refusal as a program sees it.
fn fault(error: rusqlite::Error) -> Fault {
    let kind = match error.sqlite_error().map(|error| error.extended_code) {
        Some(ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY) => UNIQUE,
        Some(ffi::SQLITE_CONSTRAINT_FOREIGNKEY) => REFERENCE,
        Some(ffi::SQLITE_CONSTRAINT_NOTNULL) => NOT_NULL,
        Some(ffi::SQLITE_CONSTRAINT_CHECK) => CHECK,
        Some(ffi::SQLITE_INTERRUPT) => ENDLESS,
        _ => "",
    };
    match error {
        rusqlite::Error::SqliteFailure(_, Some(words)) => Fault { kind, ..Fault::of(words) },
        error => Fault { kind, ..Fault::of(error.to_string()) },
    }
}
