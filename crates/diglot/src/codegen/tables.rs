//! The tables that both databases have, for queries that a query builder makes at run time: identifiers, values as either
//! database holds them, typed rows, and keys by which both sort alike.

use std::collections::BTreeSet;

use super::code::{Code, line};
use super::{Api, Function, LINTS, either, enums, feature, rows, structs, times, types};
use crate::config::{Config, Queries, Tables};
use crate::dialect::Dialect;
use crate::infer::tables::{MODULE, Shared};
use crate::infer::{Param, ResultColumn};
use crate::names::{camel, ident};
use crate::types::{Base, Of};

/// The names that the module has itself.
const TAKEN: [&str; 7] = ["Key", "On", "OnPg", "OnSqlite", "Queries", "Row", "Self"];

/// Gives every table a name that Rust can have and no other has.
pub(super) fn name_apart(tables: &mut [Shared]) {
    let mut taken: BTreeSet<String> = TAKEN.map(str::to_owned).into();
    for shared in tables {
        let mut name = enums::spelled(&shared.table);
        let all = |name: &str| ["", "Row", "Key"].map(|end| camel(name) + end);
        while all(&name).iter().any(|name| taken.contains(name)) {
            name += "_table";
        }
        taken.extend(all(&name));
        shared.signature.name = name;
    }
}

/// A column with the name of its variant.
struct Column<'a> {
    variant: String,
    column: &'a ResultColumn,
    param: Option<&'a Param>,
}

/// A table with its name in Rust.
struct Named<'a> {
    shared: &'a Shared,
    name: String,
    columns: Vec<Column<'a>>,
}

impl<'a> Named<'a> {
    fn of(shared: &'a Shared) -> Self {
        let signature = &shared.signature;
        let names: Vec<String> = signature.columns.iter().map(|column| column.name.clone()).collect();
        let variants = enums::named_apart(&names, &["Table"]);
        let columns = variants.into_iter().zip(&signature.columns).map(|((variant, name), column)| Column {
            variant,
            column,
            param: signature.params.iter().find(|param| param.name == name),
        });
        Self { shared, name: camel(&signature.name), columns: columns.collect() }
    }

    /// The columns by which both databases sort alike.
    fn keys(&self) -> impl Iterator<Item = (&Column<'a>, bool, bool)> {
        self.columns.iter().filter_map(|column| {
            let key = self.shared.keys.iter().find(|key| key.name == column.column.name)?;
            Some((column, key.by_bytes, key.nullable))
        })
    }
}

/// The module, and what its types implement, if the settings ask for it.
pub(super) fn module(code: &mut Code, style: &structs::Style, api: &Api<'_>) {
    if api.config.generate.tables == Tables::None {
        return;
    }
    // What builds queries at run time has no recorded answers and no macros: rows are read by the names of their columns.
    let mut config = api.config.clone();
    config.generate.queries = Queries::Plain;
    let tables: Vec<Named<'_>> = api.tables.iter().map(Named::of).collect();
    code.gap();
    code.doc("The tables that both databases have, for queries built with sea-query.");
    line!(code, "{LINTS}");
    code.open(format_args!("{} mod {MODULE} {{", style.seen));
    code.block(&either::gated(&config, &TEXT.replace("pub ", &format!("{} ", style.seen))));
    if config.generate.either {
        code.gap();
        either::any_feature(code, &config);
        code.block(&either::gated(&config, EITHER));
    }
    for table in &tables {
        identifiers(code, style, table);
        rows::definition(code, style, &config, &table.shared.signature);
        keys(code, style, table);
    }
    code.close("}");
    for table in &tables {
        implemented(code, style, &config, table);
    }
}

/// The enum of a table and its columns.
fn identifiers(code: &mut Code, style: &structs::Style, table: &Named<'_>) {
    let (seen, name) = (&style.seen, &table.name);
    code.gap();
    code.doc(&format!("The table `{}` and its columns.", table.shared.table));
    line!(code, "#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]");
    code.open(format_args!("{seen} enum {name} {{"));
    code.doc("The table itself.");
    line!(code, "Table,");
    for Column { variant, column, .. } in &table.columns {
        code.doc(&format!("`{}`, {}.", column.name, column.ty));
        line!(code, "{variant},");
    }
    code.close("}");
    code.gap();
    code.open(format_args!("impl sea_query::Iden for {name} {{"));
    code.open(format_args!("fn unquoted(&self) -> &str {{"));
    code.open(format_args!("match self {{"));
    line!(code, "Self::Table => {:?},", table.shared.table);
    for Column { variant, column, .. } in &table.columns {
        line!(code, "Self::{variant} => {:?},", column.name);
    }
    code.close("}");
    code.close("}");
    code.close("}");
}

/// The enum of the columns by which both databases sort alike.
fn keys(code: &mut Code, style: &structs::Style, table: &Named<'_>) {
    let (seen, name) = (&style.seen, &table.name);
    if table.shared.keys.is_empty() {
        return;
    }
    code.gap();
    code.doc(&format!("The columns of `{}` by which both databases sort alike.", table.shared.table));
    line!(code, "#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]");
    code.open(format_args!("{seen} enum {name}Key {{"));
    for (Column { variant, column, .. }, ..) in table.keys() {
        code.doc(&format!("`{}`", column.name));
        line!(code, "{variant},");
    }
    code.close("}");
    code.gap();
    code.open(format_args!("impl {name}Key {{"));
    code.doc("The key of an order; see `page`.");
    code.open(format_args!("{seen} fn key(self, on: On, order: sea_query::Order) -> Key {{"));
    code.open(format_args!("match self {{"));
    for (Column { variant, .. }, by_bytes, nullable) in table.keys() {
        let column = format!("({name}::Table, {name}::{variant})");
        line!(code, "Self::{variant} => Key::of(on, {column}, {by_bytes}, {nullable}, order),");
    }
    code.close("}");
    code.close("}");
    code.close("}");
}

/// What stands beside the module, where the names of Rust types are those of the file.
fn implemented(code: &mut Code, style: &structs::Style, config: &Config, table: &Named<'_>) {
    let (seen, path) = (&style.seen, format!("{MODULE}::{}", table.name));
    code.gap();
    line!(code, "{LINTS}");
    code.open(format_args!("impl {path} {{"));
    code.doc("Its columns, under the name of the table.");
    let columns: Vec<String> =
        table.columns.iter().map(|column| format!("(Self::Table, Self::{})", column.variant)).collect();
    code.list(&format!("{seen} const COLUMNS: [(Self, Self); {}] = [", columns.len()), &columns, "];");
    code.gap();
    code.doc("Reads whole rows.");
    code.open(format_args!("{seen} fn select() -> sea_query::SelectStatement {{"));
    line!(code, "sea_query::Query::select().columns(Self::COLUMNS).from(Self::Table).take()");
    code.close("}");
    for param in table.columns.iter().filter_map(|column| column.param) {
        value(code, style, config, param);
    }
    code.close("}");
    for dialect in Dialect::ALL {
        read(code, config, dialect, table);
    }
    row_values(code, style, table);
}

/// The function that makes a value of a column what a database holds for it.
fn value(code: &mut Code, style: &structs::Style, config: &Config, param: &Param) {
    let name = &param.name;
    let own = types::newtype(param.rust.as_deref());
    let plain = types::plain(config.libraries(), &param.ty.base);
    let is_text = own.is_none() && param.ty.base == Base::Text;
    let ty = match &own {
        Some(own) => own.to_string(),
        None if is_text => "impl Into<String>".to_owned(),
        None => plain.to_string(),
    };
    let is_word = param.rust.as_ref().is_some_and(|rust| config.generated_words(rust).is_some());
    code.gap();
    code.doc(&format!("A value of `{name}` as a database holds it, to be compared with the column or written to it."));
    let open = format!("{} fn {}(", style.seen, ident(name));
    code.list(&open, &[format!("on: {MODULE}::On"), format!("value: {ty}")], ") -> sea_query::Expr {");
    code.inside(|code| {
        if is_word {
            line!(code, "let value = value.as_str();");
        } else if is_text {
            line!(code, "let value: String = value.into();");
        } else if own.is_some() {
            line!(code, "let value = {}::from(value);", types::callable(config.libraries(), &param.ty.base));
        }
        let [sqlite, pg] = Dialect::ALL.map(|dialect| match is_word {
            true => "sea_query::Expr::val(value)".to_owned(),
            false => held(config, dialect, param),
        });
        if sqlite == pg {
            line!(code, "let _ = on;");
            line!(code, "{sqlite}");
            return;
        }
        code.open(format_args!("match on {{"));
        line!(code, "{MODULE}::On::Sqlite => {sqlite},");
        line!(code, "{MODULE}::On::Pg => {pg},");
        code.close("}");
    });
    code.close("}");
}

/// The expression of a value as a database holds it. What the builder's binder has no type for goes to Postgres as a text
/// that is cast, so that the crate needs no more features of either.
fn held(config: &Config, dialect: Dialect, param: &Param) -> String {
    let base = &param.ty.base;
    let bound = || times::bound(config, dialect, param, "value");
    let (value, cast) = match (dialect, base) {
        (_, Base::Enum(words)) => {
            let value = "sea_query::Expr::val(value.as_str())".to_owned();
            let cast = |value| format!("sea_query::ExprTrait::as_enum({value}, {:?})", words.name);
            return if dialect == Dialect::Pg { cast(value) } else { value };
        }
        (Dialect::Sqlite, Base::Uuid) => (bound().unwrap_or_else(|| "value.as_bytes().to_vec()".to_owned()), None),
        (Dialect::Sqlite, _) => (bound().unwrap_or_else(|| "value".to_owned()), None),
        (Dialect::Pg, Base::Uuid) => ("value.to_string()".to_owned(), Some("uuid")),
        (Dialect::Pg, Base::Numeric) => {
            (bound().unwrap_or_else(|| "value".to_owned()) + ".to_string()", Some("numeric"))
        }
        (Dialect::Pg, base) => match Of::facing(base).and_then(|of| times::pg_text(param, of, "value")) {
            Some((text, of)) => (text, Some(of)),
            None => ("value".to_owned(), None),
        },
    };
    match cast {
        Some(of) => format!("sea_query::ExprTrait::cast_as(sea_query::Expr::val({value}), {of:?})"),
        None => format!("sea_query::Expr::val({value})"),
    }
}

/// How a driver's row becomes the table's.
fn read(code: &mut Code, config: &Config, dialect: Dialect, table: &Named<'_>) {
    let of = rows::driver_row(config, dialect);
    code.gap();
    feature(code, config, dialect);
    line!(code, "{LINTS}");
    code.open(format_args!("impl<'r> sqlx::FromRow<'r, {of}> for {MODULE}::{}Row {{", table.name));
    code.open(format_args!("fn from_row(found: &'r {of}) -> Result<Self, sqlx::Error> {{"));
    rows::conversion(code, config, dialect, &Function::new(&table.shared.signature, Vec::new()));
    line!(code, "row(record(found)?)");
    code.close("}");
    code.close("}");
}

/// What a row has of each key.
fn row_values(code: &mut Code, style: &structs::Style, table: &Named<'_>) {
    if table.shared.keys.is_empty() {
        return;
    }
    let name = &table.name;
    code.gap();
    line!(code, "{LINTS}");
    code.open(format_args!("impl {MODULE}::{name}Row {{"));
    code.doc("What it has of a key, so that a page can begin behind it; none is NULL.");
    code.list(
        &format!("{} fn value(", style.seen),
        &["&self".to_owned(), format!("on: {MODULE}::On"), format!("key: {MODULE}::{name}Key")],
        ") -> Option<sea_query::Expr> {",
    );
    code.inside(|code| {
        code.open(format_args!("match key {{"));
        for (Column { variant, column, .. }, _, nullable) in table.keys() {
            let field = ident(&column.name);
            let of = |value: &str| format!("{MODULE}::{name}::{field}(on, {value})");
            let value = match nullable {
                true => format!("self.{field}.clone().map(|value| {})", of("value")),
                false => format!("Some({})", of(&format!("self.{field}.clone()"))),
            };
            line!(code, "{MODULE}::{name}Key::{variant} => {value},");
        }
        code.close("}");
    });
    code.close("}");
    code.close("}");
}

const TEXT: &str = include_str!("support/tables.in");

/// The connection whose database is known at run time alone.
const EITHER: &str = include_str!("support/tables_either.in");
