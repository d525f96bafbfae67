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
use diglot::{EmittedText, Inputs};
use diglot_tools::prove::{
    CHECK, Case, ENDLESS, Fault, Judge, MOST_ROWS, NOT_NULL, REFERENCE, Ran, Rows, SqliteConnection, SqliteJob,
    SqliteSchema, Subject, UNIQUE, Value, mentioned,
};
use rusqlite::config::DbConfig;
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Batch, Connection, Statement, ffi};

use super::engines::Refused;
use crate::failure::Failure;
use crate::prepare::{migrations, sqlite::without_stubs};

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
    schema: SqliteSchema,
    /// Whether rows are there that stay, and no case brings its own.
    is_settled: bool,
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
            Ok(Self { connection, ticks, schema: SqliteSchema::default(), is_settled: false })
        });
        opened.map_err(Failure::sqlite("open SQLite in memory"))
    }

    /// What the migrations put there would be in the way of the cases; so would references between it here.
    fn prepare_tables(&mut self) -> Result<(), rusqlite::Error> {
        self.batch(&SqliteSchema::emptying(&self.tables()?))?;
        self.look()
    }

    /// Looks how its tables number their rows, and which of them have triggers.
    fn look(&mut self) -> Result<(), rusqlite::Error> {
        self.schema = SqliteSchema::new(self.words(SqliteSchema::NUMBERED)?, self.words(SqliteSchema::TRIGGERED)?);
        Ok(())
    }

    fn tables(&self) -> Result<Vec<String>, rusqlite::Error> {
        self.words(SqliteSchema::TABLES)
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
        let read = || -> Result<_, rusqlite::Error> {
            let mut statement = self.connection.prepare(SqliteSchema::TEXTS)?;
            let texts: Result<Vec<(String, String)>, _> =
                statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect();
            Ok(mentioned(&self.tables()?, &texts?))
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
        Ok(self.job(subject).run(self, cases)?)
    }

    pub(super) fn job<'s>(&'s self, subject: &'s Subject) -> SqliteJob<'s> {
        SqliteJob::new(subject, &self.schema, self.is_settled)
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

impl SqliteConnection for Sqlite {
    fn part(&self, sql: &str, arguments: &[Value]) -> Result<(Rows, u64), Fault> {
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

    fn run(&self, sql: &str) -> Result<(), Fault> {
        self.batch(sql).map(drop).map_err(fault)
    }

    fn is_autocommit(&self) -> bool {
        self.connection.is_autocommit()
    }
}

/// A plain value, as the library binds it.
fn bound(value: &Value) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(match value {
        Value::Int(n) => ValueRef::Integer(*n),
        Value::Real(r) => ValueRef::Real(*r),
        Value::Text(text) => ValueRef::Text(text.as_bytes()),
        Value::Bytes(bytes) => ValueRef::Blob(bytes),
        _ => ValueRef::Null,
    })
}

/// Binds what the statement asks for; the rest of a unit's arguments are for its other parts.
fn bind(statement: &mut Statement<'_>, arguments: &[Value]) -> Result<(), rusqlite::Error> {
    for (at, argument) in arguments.iter().enumerate().take(statement.parameter_count()) {
        statement.raw_bind_parameter(at + 1, bound(argument))?;
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

/// What SQLite says of a reference that is broken.
const RESTRICTED: &str = "FOREIGN KEY constraint failed";

/// A refusal as a program sees it.
fn fault(error: rusqlite::Error) -> Fault {
    let kind = match error.sqlite_error().map(|error| error.extended_code) {
        Some(ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY) => UNIQUE,
        Some(ffi::SQLITE_CONSTRAINT_FOREIGNKEY) => REFERENCE,
        Some(ffi::SQLITE_CONSTRAINT_NOTNULL) => NOT_NULL,
        Some(ffi::SQLITE_CONSTRAINT_CHECK) => CHECK,
        Some(ffi::SQLITE_INTERRUPT) => ENDLESS,
        // ON DELETE RESTRICT is a trigger that raises this.
        Some(ffi::SQLITE_CONSTRAINT_TRIGGER) if error.to_string() == RESTRICTED => REFERENCE,
        _ => "",
    };
    match error {
        rusqlite::Error::SqliteFailure(_, Some(words)) => Fault { kind, ..Fault::of(words) },
        error => Fault { kind, ..Fault::of(error.to_string()) },
    }
}
