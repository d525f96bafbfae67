//! The module of conversions that every generated file carries, so that it depends on nothing of diglot.

use super::code::{Code, line};
use super::{LINTS, either, structs};
use crate::config::{Config, Driver};
use crate::dialect::Dialect;

/// The error of calls that the driver alone would let through; of drivers that have no error for both databases, the error
/// of all calls.
pub(super) fn error(code: &mut Code, style: &structs::Style, config: &Config) {
    let [doc, derives, variants, own, arms, source] = match config.generate.driver {
        Driver::Sqlx => OF_SQLX,
        Driver::Pair => OF_PAIR,
    };
    let slots =
        [("@derives@", derives), ("@variants@", variants), ("@own@", own), ("@arms@", arms), ("@source@", source)];
    let text = slots.iter().fold(ERROR.to_owned(), |text, (slot, by)| match by.is_empty() {
        true => text.replace(&format!("{slot}\n"), ""),
        false => text.replace(slot, by),
    });
    let text = text.replace("{\n}", "{}");
    let text = either::gated(config, &text).replace("pub ", &format!("{} ", style.seen));
    code.gap();
    code.block(doc);
    code.block(&["#[derive(", "impl "].iter().fold(text, |text, item| text.replace(item, &format!("{LINTS}\n{item}"))));
}

const ERROR: &str = include_str!("support/error.in");

/// What the error is where sqlx has one for both databases: documentation, traits, variants, functions, texts, sources.
const OF_SQLX: [&str; 6] = [
    "/// What a call was given, or what came back, that its function does not promise: the source of a `sqlx::Error`, of
/// `Encode` what was given and of `Decode` what came back.",
    "Debug, Clone, PartialEq, Eq",
    "",
    "impl StatementError {
    /// What an error is about, if it is one of these.
    pub fn of(error: &sqlx::Error) -> Option<&Self> {
        match error {
            sqlx::Error::Encode(source) | sqlx::Error::Decode(source) => source.downcast_ref(),
            _ => None,
        }
    }
}",
    "",
    "",
];

/// The same for rusqlite and tokio-postgres.
const OF_PAIR: [&str; 6] = [
    "/// What a call ends with that does not give what its function promises.",
    "Debug",
    "    /// What SQLite or its driver says.
    #[sqlite]
    Sqlite(rusqlite::Error),
    /// What Postgres or its driver says.
    #[pg]
    Pg(tokio_postgres::Error),
    /// A value came that its column does not promise.
    Decode {
        /// The column.
        column: String,
        /// What is wrong with it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No row came where one must.
    NoRow {
        /// The statement, as `noun.name`.
        statement: &'static str,
    },",
    include_str!("support/error_of_drivers.in"),
    "            #[sqlite]
            Self::Sqlite(error) => std::fmt::Display::fmt(error, f),
            #[pg]
            Self::Pg(error) => std::fmt::Display::fmt(error, f),
            Self::Decode { column, source } => write!(f, \"column `{column}`: {source}\"),
            Self::NoRow { statement } => write!(f, \"{statement} gave no row\"),",
    "    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            #[sqlite]
            Self::Sqlite(error) => error.source(),
            #[pg]
            Self::Pg(error) => error.source(),
            Self::Decode { source, .. } => source.source(),
            _ => None,
        }
    }",
];

/// The conversions that all statements need, `others` that some do, and for each dialect those that need its driver.
pub(super) fn module(code: &mut Code, config: &Config, others: &[String], of_dialects: [Vec<String>; 2]) {
    let driver = config.generate.driver;
    let (error, own) = match driver {
        Driver::Sqlx => ("use sqlx::Error;", include_str!("support/sqlx.in")),
        Driver::Pair => ("use super::StatementError as Error;", include_str!("support/pair.in")),
    };
    code.gap();
    code.doc("Conversions between what the drivers know and what the API shows.");
    line!(code, "{LINTS}");
    code.open(format_args!("mod diglot_support {{"));
    code.block("use std::error::Error as StdError;\nuse std::fmt::Display;\n\nuse super::StatementError;");
    line!(code, "{error}");
    for text in [own, COMMON].into_iter().chain(others.iter().map(String::as_str)) {
        code.gap();
        code.block(text);
    }
    for (dialect, texts) in Dialect::ALL.into_iter().zip(of_dialects).filter(|(_, texts)| !texts.is_empty()) {
        let word = dialect.word();
        if dialect == Dialect::Pg {
            code.gap();
            super::feature(code, config, dialect);
            line!(code, "#[allow(unused_imports)] // Some are called by their path.");
            line!(code, "pub(super) use self::{word}::*;");
        }
        code.gap();
        super::feature(code, config, dialect);
        code.open(format_args!("pub(super) mod {word} {{"));
        line!(code, "#[allow(unused_imports)] // Not all of what follows needs the conversions above.");
        line!(code, "use super::*;");
        for text in texts {
            code.gap();
            code.block(&text);
        }
        code.close("}");
    }
    code.close("}");
}

const COMMON: &str = include_str!("support/common.in");

/// What units with a guard need.
pub(super) fn guard(driver: Driver) -> &'static str {
    match driver {
        Driver::Sqlx => include_str!("support/guard_sqlx.in"),
        Driver::Pair => include_str!("support/guard_rusqlite.in"),
    }
}

/// What joins the rows that several statements returned.
pub(super) const JOINED: &str = include_str!("support/joined.in");
/// What reads a value of a joined row that sqlx gave.
pub(super) const VALUE: &str = include_str!("support/value_sqlx.in");

/// What the rows of a unit of SQLite need of its driver to be joined.
pub(super) fn returned(driver: Driver) -> &'static str {
    match driver {
        Driver::Sqlx => include_str!("support/returned_sqlx.in"),
        Driver::Pair => include_str!("support/joined_rusqlite.in"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_with_a_guard_know_what_its_error_says() {
        for driver in [Driver::Sqlx, Driver::Pair] {
            assert!(guard(driver).contains(&format!("{:?}", crate::emitted::EmittedText::NO_ROW)));
        }
    }
}
