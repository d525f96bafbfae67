//! Statements of migrations that were parsed before. A history is read up to each of its points, and what stands before a
//! point reads as it did.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use sqlparser::ast::Statement;

use crate::dialect::Dialect;

/// How many are kept; behind that it begins anew.
const MOST: usize = 4_096;

static KNOWN: LazyLock<Mutex<HashMap<(Dialect, String), Statement>>> = LazyLock::new(Mutex::default);

/// A text as it was parsed before, or as `parse` has it, whose errors are made each time.
pub(super) fn parsed<E>(
    dialect: Dialect,
    text: &str,
    parse: impl FnOnce() -> Result<Statement, E>,
) -> Result<Statement, E> {
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (dialect, text.to_owned());
    if let Some(statement) = known().get(&key) {
        return Ok(statement.clone());
    }
    let statement = parse()?;
    let mut known = known();
    if known.len() >= MOST {
        known.clear();
    }
    known.insert(key, statement.clone());
    Ok(statement)
}
