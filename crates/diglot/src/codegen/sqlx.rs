//! Functions that call sqlx, for both databases.

use super::code::{Code, line};
use super::functions::{binds, chosen, opened};
use super::{Function, list, rows};
use crate::config::Config;
use crate::dialect::Dialect;
use crate::emitted::{EmittedText, JoinedText};
use crate::infer::Signature;
use crate::page::Cardinality;

/// The body of a function on a connection of that name.
pub(super) fn body(code: &mut Code, config: &Config, function: &Function<'_>, dialect: Dialect, connection: &str) {
    let signature = function.signature;
    let Some((texts, statement)) = opened(code, config, function, dialect, connection) else { return };
    let call = Call { config, function, connection };
    let all = |code: &mut Code| {
        chosen(code, signature, &texts, "let rows = ", ";", |code, text, open, end| call.all(code, text, open, end));
    };
    let few = |code: &mut Code| {
        chosen(code, signature, &texts, "let rows = ", ";", |code, text, open, end| call.few(code, text, open, end));
    };
    match signature.cardinality {
        Cardinality::One | Cardinality::Opt | Cardinality::Many if signature.rows.is_some() => {
            all(code);
            list::answers(code, config, dialect, function, &statement);
        }
        Cardinality::One => {
            few(code);
            line!(code, "row(diglot_support::exactly_one({statement}, rows)?)");
        }
        Cardinality::Opt => {
            few(code);
            line!(code, "diglot_support::at_most_one({statement}, rows)?.map(row).transpose()");
        }
        Cardinality::Many => {
            all(code);
            line!(code, "rows.into_iter().map(row).collect()");
        }
        Cardinality::Exec => {
            chosen(code, signature, &texts, "", ";", |code, text, open, end| call.done(code, text, open, end));
            line!(code, "Ok(())");
        }
        Cardinality::Rows => {
            chosen(code, signature, &texts, "let done = ", ";", |code, text, open, end| {
                call.done(code, text, open, end);
            });
            line!(code, "Ok(done.rows_affected())");
        }
        Cardinality::Stream => {
            chosen(code, signature, &texts, "", "", |code, text, open, end| call.stream(code, text, open, end));
        }
    }
}

/// How the texts of a function are handed to the driver.
struct Call<'a> {
    config: &'a Config,
    function: &'a Function<'a>,
    connection: &'a str,
}

impl Call<'_> {
    /// At most two rows are read where one is wanted: a row too many is an error rather than a silent choice. Of a unit all
    /// are, since its later statements run only when they are asked for.
    fn few(&self, code: &mut Code, text: &EmittedText, open: &str, end: &str) {
        if text.parts.len() > 1 {
            self.all(code, text, open, end);
            return;
        }
        code.open(format_args!("{open}{{"));
        self.query(code, text, "let mut found = ", true);
        line!(code, ".fetch(&mut *{});", self.connection);
        line!(code, "diglot_support::first_two(|task| found.as_mut().poll_next(task))");
        code.indented(|code| {
            line!(code, ".await");
            self.rows(code, "");
        });
        code.close(&format!("}}{end}"));
    }

    /// All rows.
    fn all(&self, code: &mut Code, text: &EmittedText, open: &str, end: &str) {
        if let Some(joined) = &text.joined {
            self.joined(code, text, joined, (open, end));
            return;
        }
        self.query(code, text, open, true);
        line!(code, ".fetch_all(&mut *{})", self.connection);
        line!(code, ".await");
        guarded(code, text);
        self.rows(code, end);
    }

    /// Makes records of what the driver gave.
    fn rows(&self, code: &mut Code, end: &str) {
        if self.config.generate.queries.is_macro() {
            self.named(code, ".map_err(", &format!(")?{end}"));
            return;
        }
        self.named(code, ".map_err(", ")?");
        line!(code, ".iter()");
        line!(code, ".map(record)");
        line!(code, ".collect::<Result<Vec<_>, _>>()?{end}");
    }

    fn done(&self, code: &mut Code, text: &EmittedText, open: &str, end: &str) {
        self.query(code, text, open, false);
        line!(code, ".execute(&mut *{})", self.connection);
        if text.guarded {
            line!(code, ".await");
            guarded(code, text);
            line!(code, "?{end}");
        } else {
            line!(code, ".await?{end}");
        }
    }

    fn stream(&self, code: &mut Code, text: &EmittedText, open: &str, end: &str) {
        // The arm of a variant is a block.
        let is_arm = !open.is_empty();
        if is_arm {
            code.open(format_args!("{open}{{"));
        }
        self.query(code, text, "let records = ", true);
        line!(code, ".fetch(&mut *{});", self.connection);
        let read = match self.config.generate.queries.is_macro() {
            false => ("|found| {", "row(record(&found.map_err(", ")?)?)"),
            true => ("|record| {", "row(record.map_err(", ")?)"),
        };
        code.open(format_args!("Box::pin(futures_util::StreamExt::map(records, {}", read.0));
        self.named(code, read.1, read.2);
        code.close("}))");
        if is_arm {
            code.close(&format!("}}{end}"));
        }
    }

    /// Rows that are joined from what the statements of the unit return.
    fn joined(&self, code: &mut Code, text: &EmittedText, joined: &JoinedText, (open, end): (&str, &str)) {
        code.open(format_args!("{open}{{"));
        self.plain_query(code, text, "let query = ", ";");
        let all = format!("let returned = diglot_support::returned({}, query, {})", self.connection, text.parts.len());
        line!(code, "{all}");
        line!(code, ".await");
        guarded(code, text);
        line!(code, "?;");
        rows::of_unit(code, self.config, self.function.signature, joined, "sqlx::sqlite::SqliteRow");
        line!(code, "joined.iter().map(|row| of_parts(row)).collect::<Result<Vec<_>, _>>()");
        self.named(code, ".map_err(", ")?");
        code.close(&format!("}}{end}"));
    }

    fn named(&self, code: &mut Code, open: &str, end: &str) {
        named(code, self.function.signature, open, end);
    }

    /// What the text binds, and a NULL for every number that a statement of a unit skips.
    fn binds(&self, text: &EmittedText) -> Vec<String> {
        let spare = std::iter::repeat_n("None::<i64>".to_owned(), text.spare);
        binds(self.config, self.function, text).into_iter().chain(spare).collect()
    }

    /// The text with what it binds.
    fn query(&self, code: &mut Code, text: &EmittedText, open: &str, rows: bool) {
        if !self.config.generate.queries.is_macro() {
            self.plain_query(code, text, open, "");
            return;
        }
        let row = rows.then(|| "Record".to_owned());
        let sql = format!("{:?}", text.sql);
        let items: Vec<String> = row.into_iter().chain([sql]).chain(self.binds(text)).collect();
        let name = if rows { "query_as" } else { "query" };
        code.lines(&format!("{open}sqlx::{name}!("), &items, "", ")");
    }

    /// The same without a macro.
    fn plain_query(&self, code: &mut Code, text: &EmittedText, open: &str, end: &str) {
        code.lines(&format!("{open}sqlx::query("), &[format!("{:?}", text.sql)], ",", ")");
        self.binds(text).iter().for_each(|bind| line!(code, ".bind({bind})"));
        if !end.is_empty() {
            line!(code, "{end}");
        }
    }
}

/// What puts the names of columns into errors.
pub(super) fn named(code: &mut Code, signature: &Signature, open: &str, end: &str) {
    let columns: Vec<String> = signature.columns.iter().map(|column| format!("{:?}", column.name)).collect();
    code.list(&format!("{open}|error| diglot_support::named(error, &["), &columns, &format!("]){end}"));
}

/// A unit whose guard has no row did nothing and gives nothing.
fn guarded(code: &mut Code, text: &EmittedText) {
    if text.guarded {
        line!(code, ".or_else(diglot_support::unless_required)");
    }
}
