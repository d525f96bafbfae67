//! The functions of a Postgres schema with what their statements say.

use std::collections::BTreeMap;

use super::body;
use crate::schema::Schema;
use crate::tree::Statement;

/// A function whose statements are understood.
#[derive(Debug, Clone)]
pub(crate) struct Routine {
    /// Its parameters' names.
    pub(crate) params: Vec<String>,
    /// The statements in its body; a parameter is called `arg__NAME`, a column of the trigger's row `new__NAME` or
    /// `old__NAME`.
    pub(crate) statements: Vec<Statement>,
    /// Whether there is something in it that could not be read.
    pub(crate) unread: bool,
}

/// The functions of a schema with their statements.
pub(crate) fn understood(schema: &Schema) -> BTreeMap<String, Routine> {
    let mut routines = BTreeMap::new();
    for (name, written) in &schema.functions {
        let (statements, unread) = body::statements(schema, written);
        routines.insert(name.clone(), Routine { params: written.params.clone(), statements, unread });
    }
    routines
}
