//! What a case does on SQLite, whoever is connected to it. Units are run part by part.

use std::collections::BTreeSet;

use sea_query::{DeleteStatement, Expr, ExprTrait as _, InsertStatement, SqliteQueryBuilder};

use super::arguments::sqlite_arguments;
use super::{Answer, Case, Each, Fault, NEW_IDS, REFERENCE, Ran, Subject};
use diglot::dialect::Dialect;
use diglot::emitted::EmittedText;
use diglot::value::{Rows, Value};

/// Where SQLite keeps the numbers of AUTOINCREMENT.
const NUMBERS: &str = "sqlite_sequence";

/// A connection to SQLite.
pub trait SqliteConnection {
    /// Runs one statement, which takes as many of the arguments as it asks for: its rows, and how many it wrote.
    ///
    /// # Errors
    /// When SQLite refuses it.
    fn part(&self, sql: &str, arguments: &[Value]) -> Result<(Rows, u64), Fault>;

    /// Runs a text of any number of statements.
    ///
    /// # Errors
    /// When SQLite refuses one of them.
    fn run(&self, sql: &str) -> Result<(), Fault>;

    /// Whether no transaction is open.
    fn is_autocommit(&self) -> bool;
}

/// What an engine refused that a case rests on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot {what}: {words}")]
pub struct Trouble {
    /// What was tried.
    pub what: String,
    /// The engine's words.
    pub words: String,
}

impl Trouble {
    /// What was tried, for a refusal.
    pub fn when(what: impl Into<String>) -> impl FnOnce(Fault) -> Self {
        move |fault| Self { what: what.into(), words: fault.words }
    }
}

/// What is known of a database with the project's schema.
#[derive(Debug, Default)]
pub struct SqliteSchema {
    /// Tables that number their rows by AUTOINCREMENT.
    numbered: BTreeSet<String>,
    /// Tables into which rows go one by one, because triggers look at them.
    apart: BTreeSet<String>,
}

impl SqliteSchema {
    /// Tables that number their rows by AUTOINCREMENT.
    pub const NUMBERED: &str = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'";
    /// Tables with triggers.
    pub const TRIGGERED: &str = "SELECT lower(tbl_name) FROM sqlite_master WHERE type = 'trigger'";
    /// Tables of the project.
    pub const TABLES: &str = "SELECT lower(name) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    /// The names of views and of tables with triggers, with the texts of those.
    pub const TEXTS: &str = "SELECT lower(tbl_name), lower(sql) FROM sqlite_master WHERE type IN ('view', 'trigger')";

    /// What empties tables; so that references between the rows that go are not in the way.
    pub fn emptying(tables: &[String]) -> String {
        let emptied = tables
            .iter()
            .map(|table| DeleteStatement::new().from_table(table.clone()).to_string(SqliteQueryBuilder) + "; ");
        format!("PRAGMA foreign_keys = OFF; {}PRAGMA foreign_keys = ON", emptied.collect::<String>())
    }

    /// What the database answered to [`Self::NUMBERED`] and [`Self::TRIGGERED`].
    pub fn new(numbered: Vec<String>, triggered: Vec<String>) -> Self {
        Self { numbered: numbered.into_iter().collect(), apart: triggered.into_iter().collect() }
    }
}

/// What the cases of a pair have in common on SQLite.
pub struct SqliteJob<'s> {
    subject: &'s Subject,
    schema: &'s SqliteSchema,
    /// Whether rows are there that stay, and no case brings its own.
    is_settled: bool,
    clearings: Vec<String>,
    /// Where new numbers begin.
    numbers: String,
    /// The queries for the tables that are compared.
    tables: Vec<String>,
}

impl<'s> SqliteJob<'s> {
    /// Of a pair in a database, and whether rows are there that stay.
    pub fn new(subject: &'s Subject, schema: &'s SqliteSchema, is_settled: bool) -> Self {
        Self {
            subject,
            schema,
            is_settled,
            clearings: subject.clearings(),
            numbers: numbers(subject, &schema.numbered),
            tables: subject.compared.iter().map(|table| table.select(Dialect::Sqlite)).collect(),
        }
    }

    /// Runs cases and takes each back. Those that follow each other and have the same rows share them.
    ///
    /// # Errors
    /// When SQLite refuses what the answers rest on.
    pub fn run(&self, on: &impl SqliteConnection, cases: &[&Case]) -> Result<Vec<Ran>, Trouble> {
        let mut ran = Vec::with_capacity(cases.len());
        for together in cases.chunk_by(|a, b| a.rows == b.rows) {
            ran.extend(self.together(on, together)?);
            end(on)?;
        }
        Ok(ran)
    }

    /// Runs texts in the place of the page on cases that the page has answered, until each of them gave something else:
    /// takes those out of the open ones, which are named by their places.
    ///
    /// # Errors
    /// When SQLite refuses what the answers rest on.
    pub fn tell(
        &self,
        on: &impl SqliteConnection,
        texts: &[EmittedText],
        open: &mut Vec<usize>,
        answered: &[(Case, Answer)],
    ) -> Result<(), Trouble> {
        let whole = self.subject.variants.first();
        for together in answered.chunk_by(|(a, _), (b, _)| a.rows == b.rows) {
            for (case, own) in together.iter().filter(|(case, _)| self.subject.variant(case) == whole) {
                let mut left = Vec::with_capacity(open.len());
                for at in std::mem::take(open) {
                    if !self.tells(on, &texts[at], case, own)? {
                        left.push(at);
                    }
                }
                *open = left;
            }
            end(on)?;
            if open.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Whether a text answers a case otherwise than the page did.
    fn tells(
        &self,
        on: &impl SqliteConnection,
        text: &EmittedText,
        case: &Case,
        own: &Answer,
    ) -> Result<bool, Trouble> {
        if !self.begin(on, case)?.is_empty() {
            return Ok(false);
        }
        let after = self.answer(on, Some(text), case)?;
        Ok(after != *own && self.subject.compare(case, own, &after).is_some())
    }

    /// Cases with the same rows.
    fn together(&self, on: &impl SqliteConnection, cases: &[&Case]) -> Result<Vec<Ran>, Trouble> {
        let mut ran = Vec::with_capacity(cases.len());
        for case in cases {
            let refused = self.begin(on, case)?;
            if !refused.is_empty() {
                return Ok(cases.iter().map(|_| Ran::Refused(refused.clone())).collect());
            }
            let text = self.subject.variant(case).map(|texts| &texts.sqlite);
            ran.push(Ran::Answered(self.answer(on, text, case)?));
        }
        Ok(ran)
    }

    /// Has a case's rows there and nothing that another statement did; the rows that do not go in.
    fn begin(&self, on: &impl SqliteConnection, case: &Case) -> Result<Vec<(String, usize)>, Trouble> {
        let begin = || Trouble::when("begin on SQLite");
        // After some errors SQLite has ended the transaction by itself, and the rows are gone with it.
        if on.is_autocommit() {
            on.part("BEGIN", &[]).map_err(begin())?;
            if !self.is_settled {
                let refused = self.fill(on, case);
                if !refused.is_empty() {
                    return Ok(refused);
                }
                self.clear(on)?;
            }
            on.part("SAVEPOINT statement", &[]).map_err(begin())?;
        } else {
            back(on)?;
        }
        if !self.numbers.is_empty() {
            on.run(&self.numbers).map_err(Trouble::when("set where SQLite numbers from"))?;
        }
        Ok(Vec::new())
    }

    /// Puts the rows of a case there, those of some tables one by one; those that do not go in, by table and place.
    pub fn fill(&self, on: &impl SqliteConnection, case: &Case) -> Vec<(String, usize)> {
        let fillings = self.subject.fillings(case, Dialect::Sqlite, |table| self.schema.apart.contains(table));
        if fillings.iter().all(|filling| on.run(&filling.sql).is_ok()) {
            return Vec::new();
        }
        let mut refused = Vec::new();
        on.run("ROLLBACK; BEGIN").ok();
        for filling in self.subject.fillings(case, Dialect::Sqlite, |_| true) {
            if on.run(&filling.sql).is_err() {
                refused.push((filling.table, filling.rows.start));
            }
        }
        refused
    }

    /// Takes out what no program would have written.
    ///
    /// # Errors
    /// When SQLite refuses that.
    pub fn clear(&self, on: &impl SqliteConnection) -> Result<(), Trouble> {
        for sql in &self.clearings {
            let failed = || Trouble::when("take out impossible rows on SQLite, as `[prove.impossible]` says");
            // A row that goes may make another one impossible, and each engine looks at them in its own order.
            while on.part(sql, &[]).map_err(failed())?.1 > 0 {}
        }
        Ok(())
    }

    /// What a text answers to a case whose rows are there, and what it leaves.
    fn answer(&self, on: &impl SqliteConnection, text: Option<&EmittedText>, case: &Case) -> Result<Answer, Trouble> {
        let result = match text {
            Some(text) => statement(on, self.subject, text, case),
            None => Err(Fault::of("no such variant")),
        };
        let mut tables = Vec::new();
        if self.subject.writes {
            // A single statement takes itself back; of a unit some parts have run.
            if result.is_err() && !on.is_autocommit() {
                back(on)?;
            }
            for (table, select) in self.subject.compared.iter().zip(&self.tables) {
                let read = on.part(select, &[]);
                tables.push(read.map_err(Trouble::when(format!("read {} on SQLite", table.name)))?.0);
            }
        }
        Ok(Answer { result, tables, taken: BTreeSet::new(), manner: "" })
    }
}

/// Takes back what was done behind the savepoint `statement`.
fn back(on: &impl SqliteConnection) -> Result<(), Trouble> {
    on.part("ROLLBACK TO statement", &[]).map(drop).map_err(Trouble::when("roll back on SQLite"))
}

/// Takes back what a case did.
fn end(on: &impl SqliteConnection) -> Result<(), Trouble> {
    if on.is_autocommit() {
        return Ok(());
    }
    on.part("ROLLBACK", &[]).map(drop).map_err(Trouble::when("roll back on SQLite"))
}

fn numbers(subject: &Subject, numbered: &BTreeSet<String>) -> String {
    if !subject.writes {
        return String::new();
    }
    let tables = subject.tables.iter().chain(&subject.compared).map(|table| &table.name);
    let numbered: BTreeSet<&String> =
        tables.filter(|name| numbered.contains(*name) && !subject.numbers.contains(*name)).collect();
    let number = |name: &String| {
        let forget = DeleteStatement::new().from_table(NUMBERS).and_where(Expr::col("name").eq(name.as_str())).take();
        let mut begin = InsertStatement::new();
        begin.into_table(NUMBERS).columns(["name", "seq"]).values_panic([name.as_str().into(), (NEW_IDS - 1).into()]);
        [forget.to_string(SqliteQueryBuilder), begin.to_string(SqliteQueryBuilder)].join("; ")
    };
    numbered.into_iter().map(number).collect::<Vec<_>>().join("; ")
}

fn statement(
    on: &impl SqliteConnection,
    subject: &Subject,
    text: &EmittedText,
    case: &Case,
) -> Result<(Rows, u64), Fault> {
    if let Some(each) = subject.each() {
        return calls(on, each, text, case);
    }
    let arguments = sqlite_arguments(text, case);
    match parts(on, subject, text, &arguments) {
        Err(fault) if fault.kind == REFERENCE && text.parts.len() > 1 => {
            Err(Fault { beside: met_later(on, subject, text, &arguments)?, ..fault })
        }
        answered => answered,
    }
}

/// What else is in the way of statements of which one writes a row that refers to none: what another engine meets first
/// that takes them as one and looks at references at its end.
fn met_later(
    on: &impl SqliteConnection,
    subject: &Subject,
    text: &EmittedText,
    arguments: &[Value],
) -> Result<Option<&'static str>, Fault> {
    on.run("ROLLBACK TO statement; PRAGMA defer_foreign_keys = ON")?;
    let kind = parts(on, subject, text, arguments).err().map(|fault| fault.kind);
    if !on.is_autocommit() {
        on.run("ROLLBACK TO statement; PRAGMA defer_foreign_keys = OFF")?;
    }
    Ok(kind)
}

/// Runs the statements of a text one after the other.
fn parts(
    on: &impl SqliteConnection,
    subject: &Subject,
    text: &EmittedText,
    arguments: &[Value],
) -> Result<(Rows, u64), Fault> {
    let single = std::slice::from_ref(&text.sql);
    let parts = if text.parts.len() > 1 { text.parts.as_slice() } else { single };
    let (mut returned, mut written) = (Vec::new(), 0);
    for part in parts {
        match on.part(part, arguments) {
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
fn calls(on: &impl SqliteConnection, each: &Each, text: &EmittedText, case: &Case) -> Result<(Rows, u64), Fault> {
    let mut answers = Rows::new();
    for (number, (call, row)) in (1..).zip(each.calls(case)) {
        let (rows, _) = statement(on, each.one(), text, &call)?;
        answers.extend(rows.iter().map(|answered| each.answer(number, &row, answered)));
    }
    Ok((answers, 0))
}
