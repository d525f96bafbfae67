//! The tables that both databases have, with the columns that both have: what queries may speak of that are built at run
//! time.

use super::{Param, ResultColumn, Signature, may_be};
use crate::config::Config;
use crate::dialect::{Both, Dialect};
use crate::page::Cardinality;
use crate::schema::{Column, Schema, Table};
use crate::types::{Base, Form, Type};

/// The module of what is generated for tables.
pub(crate) const MODULE: &str = "tables";

/// A table that both databases have.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    /// Its name in both.
    pub(crate) table: String,
    /// Its columns as what a statement gives that reads all of them; its parameters are those columns whose values can be
    /// compared with or written to.
    pub(crate) signature: Signature,
    /// The columns by which both databases sort alike.
    pub(crate) keys: Vec<Sorted>,
}

/// A column by which both databases sort alike.
#[derive(Debug, Clone)]
pub(crate) struct Sorted {
    /// Its name.
    pub(crate) name: String,
    /// Whether Postgres has to be told to sort by bytes.
    pub(crate) by_bytes: bool,
    /// Whether it may be NULL.
    pub(crate) nullable: bool,
}

/// Every table that both schemas have.
pub(crate) fn shared(config: &Config, schemas: &Both<Schema>) -> Vec<Shared> {
    let pairs = schemas.sqlite.tables.values().filter_map(|sqlite| {
        let pg = schemas.pg.tables.get(&sqlite.name)?;
        let is_table = |table: &Table| !table.view && !table.partition;
        (is_table(sqlite) && is_table(pg)).then(|| table(config, Both { sqlite, pg }))
    });
    pairs.filter(|shared| !shared.signature.columns.is_empty()).collect()
}

fn table(config: &Config, tables: Both<&Table>) -> Shared {
    let name = tables.sqlite.name.clone();
    let (mut columns, mut params, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    for sqlite in &tables.sqlite.columns {
        let Some(pg) = tables.pg.column(&sqlite.name) else { continue };
        let Some(base) = Base::finer(&sqlite.ty.base, &pg.ty.base).filter(|base| *base != Base::Interval) else {
            continue;
        };
        let rust = config.rust_type(&name, &sqlite.name).filter(|path| may_be(config, &base, path)).map(str::to_owned);
        let ty = Type { base, nullable: sqlite.ty.nullable || pg.ty.nullable };
        if !ty.base.is_list() && ty.base != Base::Json {
            params.push(Param {
                rust: rust.clone(),
                stored: sqlite.ty.base.stored(),
                ..Param::plain(&sqlite.name, Type::required(ty.base.clone()))
            });
            keys.extend(sorted(config, sqlite, pg, &ty));
        }
        columns.push(ResultColumn {
            name: sqlite.name.clone(),
            ty,
            rust,
            sqlite: Some(sqlite.ty.base.clone()),
            pg: Some(pg.ty.base.clone()),
            within: None,
        });
    }
    let signature = Signature {
        noun: MODULE.to_owned(),
        name: name.clone(),
        docs: Vec::new(),
        cardinality: Cardinality::Many,
        dialects: Dialect::ALL.to_vec(),
        params,
        rows: None,
        columns,
    };
    Shared { table: name, signature, keys }
}

/// A column by which both databases sort alike. Digits of decimals are texts on SQLite, and ENUMs sort by their
/// declaration on Postgres alone.
fn sorted(config: &Config, sqlite: &Column, pg: &Column, ty: &Type) -> Option<Sorted> {
    let is_bytewise = |column: &Column| column.collation.as_deref().is_none_or(|name| name == "binary");
    let is_digits = sqlite.ty.base.stored().is_some_and(|stored| matches!(stored.form, Form::Digits | Form::Unsaid));
    if is_digits || matches!(ty.base, Base::Enum(_) | Base::Numeric) || !is_bytewise(sqlite) {
        return None;
    }
    let said = pg.collation.as_deref().unwrap_or(&config.pg_collation);
    let in_bytes = ["c", "posix", "ucs_basic"].iter().any(|name| said.eq_ignore_ascii_case(name));
    let by_bytes = pg.ty.base == Base::Text && !in_bytes;
    Some(Sorted { name: sqlite.name.clone(), by_bytes, nullable: ty.nullable })
}
