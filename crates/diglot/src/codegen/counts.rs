//! Numbers of rows that no engine gets when they are negative: Postgres would refuse one, SQLite would take all rows.

use super::code::{Code, line};
use super::{functions, params};
use crate::config::Config;
use crate::dialect::Dialect;
use crate::infer::{Param, Signature};
use crate::types::Base;

/// What the generated module of conversions needs for them.
pub(super) const CONVERSION: &str = r#"/// Refuses a negative number of rows, of which SQLite makes all of them and Postgres an error.
pub(super) fn number_of_rows(
    statement: &'static str,
    param: &'static str,
    rows: Option<i64>,
) -> Result<(), Error> {
    match rows {
        Some(..0) => Err(given(StatementError::NegativeRows { statement, param })),
        _ => Ok(()),
    }
}
"#;

/// Whether a function has such a parameter.
pub(super) fn has(signature: &Signature) -> bool {
    signature.params.iter().any(|param| param.counts_rows)
}

/// Ends a call on SQLite whose number of rows is negative.
pub(super) fn check(code: &mut Code, config: &Config, dialect: Dialect, signature: &Signature, statement: &str) {
    if dialect != Dialect::Sqlite {
        return;
    }
    for param in signature.params.iter().filter(|param| param.counts_rows) {
        let check = format!("diglot_support::number_of_rows({statement}, {:?}, {})", param.name, rows(config, param));
        if functions::is_stream(config, signature) {
            code.open(format_args!("if let Err(error) = {check} {{"));
            line!(code, "return Box::pin(futures_util::stream::once(std::future::ready(Err(error))));");
            code.close("}");
        } else {
            line!(code, "{check}?;");
        }
    }
}

/// The number, if one is given.
fn rows(config: &Config, param: &Param) -> String {
    let bound = params::bind(config, Dialect::Sqlite, false, ("params", param));
    match (param.ty.nullable, param.ty.base == Base::Int64) {
        (false, true) => format!("Some({bound})"),
        (false, false) => format!("Some(i64::from({bound}))"),
        (true, true) => bound,
        (true, false) => format!("{bound}.map(i64::from)"),
    }
}
