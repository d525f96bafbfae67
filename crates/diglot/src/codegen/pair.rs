//! Functions that call rusqlite for SQLite, where nothing waits, and tokio-postgres for Postgres, in a module for each.

use super::code::{Code, line};
use super::functions::{binds, chosen, given, opened};
use super::{Function, list, rows};
use crate::config::Config;
use crate::dialect::Dialect;
use crate::emitted::{EmittedText, JoinedText};
use crate::infer::Signature;
use crate::names::ident;
use crate::page::Cardinality;
use crate::split::lexer;
use crate::types::Base;

/// The body of a method of both: the function of the dialect's module.
pub(super) fn call(code: &mut Code, config: &Config, signature: &Signature, dialect: Dialect) {
    let given = Some(given(config, signature)).filter(|given| !given.is_empty());
    let given: Vec<String> = std::iter::once("self".to_owned()).chain(given).collect();
    let end = if dialect == Dialect::Pg { ".await" } else { "" };
    line!(code, "{}::{}({}){end}", dialect.word(), ident(&signature.name), given.join(", "));
}

/// The body of a function of a dialect's module.
pub(super) fn body(code: &mut Code, config: &Config, function: &Function<'_>, dialect: Dialect) {
    let signature = function.signature;
    let Some((texts, statement)) = opened(code, config, function, dialect, "connection") else { return };
    let call = Call { config, function };
    let run = |code: &mut Code, open: &str, way: Way| {
        chosen(code, signature, &texts, open, ";", |code, text, open, end| match dialect {
            Dialect::Sqlite => call.on_sqlite(code, text, way, (open, end)),
            Dialect::Pg => call.on_pg(code, text, way, (open, end)),
        });
    };
    match signature.cardinality {
        Cardinality::One | Cardinality::Opt | Cardinality::Many if signature.rows.is_some() => {
            run(code, "let rows = ", Way::Records);
            list::answers(code, config, dialect, function, &statement);
        }
        Cardinality::One => {
            run(code, "let rows = ", Way::Few);
            line!(code, "diglot_support::exactly_one({statement}, rows)");
        }
        Cardinality::Opt => {
            run(code, "let rows = ", Way::Few);
            line!(code, "diglot_support::at_most_one({statement}, rows)");
        }
        Cardinality::Many => {
            run(code, "let rows = ", Way::All);
            line!(code, "Ok(rows)");
        }
        Cardinality::Rows => {
            run(code, "let written = ", Way::Done);
            line!(code, "Ok(written)");
        }
        Cardinality::Exec => {
            run(code, "", Way::Done);
            line!(code, "Ok(())");
        }
        Cardinality::Stream => {
            run(code, "", Way::Each);
            line!(code, "Ok(())");
        }
    }
}

/// How a text is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// For all of its rows.
    All,
    /// For all of its rows as records, which a list finds its answers among.
    Records,
    /// For two rows at most: a row too many is an error rather than a silent choice.
    Few,
    /// For its rows one after the other.
    Each,
    /// For the number of rows that it writes.
    Done,
}

impl Way {
    /// The function of either driver.
    fn name(self) -> &'static str {
        match self {
            Self::All | Self::Records => "all",
            Self::Few => "first_two",
            Self::Each => "each",
            Self::Done => "done",
        }
    }

    /// What it gets behind the statement.
    fn rest(self) -> &'static str {
        match self {
            Self::All | Self::Few => ", |found| row(record(found)?)",
            Self::Each => ", |found| row(record(found)?), each",
            Self::Records => ", record",
            Self::Done => "",
        }
    }
}

/// How the texts of a function are handed to the drivers.
struct Call<'a> {
    config: &'a Config,
    function: &'a Function<'a>,
}

impl Call<'_> {
    /// Each statement of a text is prepared by itself, and stays so on the connection.
    fn on_sqlite(&self, code: &mut Code, text: &EmittedText, way: Way, (open, end): (&str, &str)) {
        let binds = binds(self.config, self.function, text);
        let (mark, _) = text.sql.split_once("*/ ").unwrap_or_default();
        let prepare = |code: &mut Code, part: &str| {
            line!(code, "let mut statement = connection.prepare_cached({:?})?;", format!("{mark}*/ {part}"));
            for number in lexer::numbers(part) {
                let Some(bind) = binds.get(number - 1) else { continue };
                line!(code, "diglot_support::sqlite::bind(&mut statement, {number}, &{bind})?;");
            }
        };
        let connection = if way == Way::Done { "connection, " } else { "" };
        let run =
            |way: Way| format!("diglot_support::sqlite::{}({connection}&mut statement{})?", way.name(), way.rest());
        if let [part] = text.parts.as_slice() {
            code.open(format_args!("{open}{{"));
            prepare(code, part);
            line!(code, "{}", run(way));
            code.close(&format!("}}{end}"));
            return;
        }
        let label = if text.guarded { "'unit: " } else { "" };
        code.open(format_args!("{open}{label}{{"));
        let joined = text.joined.as_ref().filter(|_| way != Way::Done);
        match way {
            _ if joined.is_some() => line!(code, "let mut returned = Vec::new();"),
            Way::Done => line!(code, "let mut written = 0;"),
            _ => {}
        }
        for (at, part) in text.parts.iter().enumerate() {
            let is_result = text.result == Some(at) && way != Way::Done;
            // Its later statements run only when they are asked for, so all rows of a unit are read.
            let way = if way == Way::Few { Way::All } else { way };
            code.open(format_args!("{}{{", if is_result && way != Way::Each { "let rows = " } else { "" }));
            prepare(code, part);
            if at == 0 && text.guarded {
                code.open(format_args!("if !diglot_support::sqlite::is_met(&mut statement)? {{"));
                line!(code, "break 'unit Default::default();");
                code.close("}");
                if joined.is_some() {
                    line!(code, "returned.push(Vec::new());");
                }
            } else if joined.is_some() {
                line!(code, "returned.push(diglot_support::sqlite::kept(&mut statement)?);");
            } else if is_result {
                line!(code, "{}", run(way));
            } else {
                let count = if way == Way::Done { "written += " } else { "" };
                line!(code, "{count}diglot_support::sqlite::done(connection, &mut statement)?;");
            }
            code.close(if is_result { "};" } else { "}" });
        }
        match (joined, way) {
            (Some(joined), _) => self.joined(code, joined, way),
            (None, Way::Done) => line!(code, "written"),
            (None, Way::Each) => {}
            (None, _) => line!(code, "rows"),
        }
        code.close(&format!("}}{end}"));
    }

    /// The rows that are joined from what the statements of a unit returned.
    fn joined(&self, code: &mut Code, joined: &JoinedText, way: Way) {
        rows::of_unit(code, self.config, self.function.signature, joined, "Vec<rusqlite::types::Value>");
        let read = if way == Way::Records { "of_parts(found)" } else { "row(of_parts(found)?)" };
        if way == Way::Each {
            line!(code, "let mut each = each;");
            code.open(format_args!("for found in &joined {{"));
            code.open(format_args!("if each({read}?).is_break() {{"));
            line!(code, "break;");
            code.close("}");
            code.close("}");
        } else {
            line!(code, "joined.iter().map(|found| {read}).collect::<Result<Vec<_>, StatementError>>()?");
        }
    }

    /// A text goes with the types of its values: they are what it was checked with, and nobody has to ask for them first.
    fn on_pg(&self, code: &mut Code, text: &EmittedText, way: Way, (open, end): (&str, &str)) {
        let values = binds(self.config, self.function, text);
        let values: Vec<String> = values.iter().map(|value| format!("diglot_support::pg::typed(&{value})")).collect();
        let is_plain = self.function.signature.columns.iter().all(|column| {
            let given = column.on(Dialect::Pg);
            given.is_some_and(|given| !matches!(given, Base::Enum(_)))
        });
        let head = format!("{open}diglot_support::pg::{}(connection, {:?}, {is_plain}, &[", way.name(), text.sql);
        code.list(&head, &values, &format!("]{}).await?{end}", way.rest()));
    }
}
