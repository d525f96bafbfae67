//! Row structs, and how what a driver gives becomes one.

use std::borrow::Cow;

use super::code::{Code, line};
use super::{Function, calls, functions, keys, list, structs, times, types, widths};
use crate::config::{Config, Driver, Queries};
use crate::dialect::Dialect;
use crate::emitted::JoinedText;
use crate::infer::keys::parts;
use crate::infer::{Matched, ResultColumn, Signature};
use crate::names::{camel, ident};
use crate::types::Base;

/// The struct of a result row; nothing for a statement that gives none.
pub(super) fn definition(code: &mut Code, style: &structs::Style, config: &Config, signature: &Signature) {
    if signature.columns.is_empty() {
        return;
    }
    let fields = keys::fields(config, false, list::shown(signature), |column| structs::Field {
        name: &column.name,
        doc: format!("`{}`, {}.", crate::names::doc_line(&column.name), column.ty),
        ty: {
            let rust = types::in_noun(config, column.rust.as_deref());
            types::field(config.libraries(), &column.ty.base, column.ty.nullable, rust.as_deref())
        },
    });
    let (name, doc) = (format!("{}Row", camel(&signature.name)), format!("A row of `{}`.", signature.name));
    structs::documented(code, style, &name, false, &doc, fields.into_iter());
}

/// The path of the struct from the file's top, if there is one.
pub(super) fn path(signature: &Signature) -> Option<String> {
    let path = || format!("{}::{}Row", ident(&signature.noun), camel(&signature.name));
    (!signature.columns.is_empty()).then(path)
}

/// `struct Record` with the driver's types and `fn row` that turns one into the API's row; without macros also
/// `fn record`, which reads one from the driver's row.
pub(super) fn conversion(code: &mut Code, config: &Config, dialect: Dialect, function: &Function<'_>) {
    let signature = function.signature;
    let Some(row) = path(function.one.unwrap_or(signature)) else { return };
    let shown = match function.one {
        Some(one) => calls::answered(signature, one),
        None => list::shown(signature).cloned().collect(),
    };
    // The key of a call's answer is read beside the answer.
    if function.one.is_some() && signature.rows.as_ref().is_some_and(|rows| rows.matched == Some(Matched::Key)) {
        line!(code, "#[derive(Clone)]");
    }
    code.open(format_args!("struct Record {{"));
    for column in &signature.columns {
        let given = types::driver(dialect, column.on(dialect), &column.ty.base);
        let pg = if dialect == Dialect::Pg { times::pg_record(config, &given) } else { None };
        let pg = pg.or_else(|| widths::record(dialect, &given));
        // rusqlite reads an id where it stands, and sqlx makes a list of its bytes.
        let is_rusqlite = config.generate.driver == Driver::Pair && dialect == Dialect::Sqlite;
        let is_id = is_rusqlite && (&given, &column.ty.base) == (&Base::Bytes, &Base::Uuid);
        let own = if is_id { Some("[u8; 16]") } else { pg };
        let ty = own.map_or_else(|| types::plain(config.libraries(), &given), Cow::Borrowed);
        line!(code, "{}: Option<{ty}>,", ident(&column.name));
    }
    code.close("}");
    if !config.generate.queries.is_macro() {
        code.gap();
        decode(code, config, dialect, signature);
    }
    code.gap();
    in_the_loop(code, config);
    code.open(format_args!("fn row(record: Record) -> Result<{row}, {}> {{", functions::error(config)));
    code.open(format_args!("Ok({row} {{"));
    for (key, columns) in parts(shown.iter()) {
        if let Some(key) = key {
            code.open(format_args!("{}: {} {{", ident(key), keys::path(config, key)));
        }
        for column in columns {
            line!(code, "{}: {},", ident(&column.name), value(config, dialect, column));
        }
        if key.is_some() {
            code.close("},");
        }
    }
    code.close("})");
    code.close("}");
    code.gap();
}

/// What is called for each row becomes part of the loop over rows: of rusqlite, a call costs what reading a column does.
fn in_the_loop(code: &mut Code, config: &Config) {
    if config.generate.driver == Driver::Pair {
        line!(code, "#[inline(always)]");
    }
}

/// Reads the driver's row: by the places of its columns where engines have said them, by their names otherwise.
fn decode(code: &mut Code, config: &Config, dialect: Dialect, signature: &Signature) {
    let row = driver_row(config, dialect);
    in_the_loop(code, config);
    code.open(format_args!("fn record(row: &{row}) -> Result<Record, {}> {{", functions::error(config)));
    code.open(format_args!("Ok(Record {{"));
    let is_known = config.generate.queries == Queries::Checked;
    for (at, column) in signature.columns.iter().enumerate() {
        let place = if is_known { at.to_string() } else { format!("{:?}", column.name) };
        let read = match config.generate.driver {
            Driver::Sqlx => format!("sqlx::Row::try_get(row, {place})"),
            Driver::Pair => format!("diglot_support::{}::column(row, {place}, {:?})", dialect.word(), column.name),
        };
        line!(code, "{}: {read}?,", ident(&column.name));
    }
    code.close("})");
    code.close("}");
}

/// The row that a driver gives.
pub(super) fn driver_row(config: &Config, dialect: Dialect) -> &'static str {
    match (config.generate.driver, dialect) {
        (Driver::Sqlx, Dialect::Sqlite) => "sqlx::sqlite::SqliteRow",
        (Driver::Sqlx, Dialect::Pg) => "sqlx::postgres::PgRow",
        (Driver::Pair, Dialect::Sqlite) => "rusqlite::Row<'_>",
        (Driver::Pair, Dialect::Pg) => "tokio_postgres::Row",
    }
}

/// `let joined`, the rows that the statements of a unit returned, side by side, and `fn of_parts`, which makes a record of
/// some: `kept` is what one of them is until then.
pub(super) fn of_unit(code: &mut Code, config: &Config, signature: &Signature, joined: &JoinedText, kept: &str) {
    let source = |(at, optional): &(usize, bool)| (format!("diglot_support::of(&returned, {at})"), *optional);
    let sources: Vec<(String, bool)> = joined.sources.iter().map(source).collect();
    of_parts(code, config, signature, &sources, &joined.columns, kept);
}

/// The same of rows from other places: `sources` are expressions for them and whether there may be none, `columns` says
/// from which of them and from which place each column comes.
pub(super) fn of_parts(
    code: &mut Code,
    config: &Config,
    signature: &Signature,
    sources: &[(String, bool)],
    columns: &[(usize, usize)],
    kept: &str,
) {
    let sources: Vec<String> = sources.iter().map(|(rows, optional)| format!("({rows}, {optional})")).collect();
    code.list("let joined = diglot_support::joined(&[", &sources, "]);");
    let error = functions::error(config);
    code.open(format_args!("fn of_parts(row: &[Option<&{kept}>]) -> Result<Record, {error}> {{"));
    code.open(format_args!("Ok(Record {{"));
    for (column, (source, place)) in signature.columns.iter().zip(columns) {
        let read = match config.generate.driver {
            Driver::Sqlx => format!("diglot_support::value(row[{source}], {place})"),
            Driver::Pair => format!("diglot_support::sqlite::value(row[{source}], {place}, {:?})", column.name),
        };
        line!(code, "{}: {read}?,", ident(&column.name));
    }
    code.close("})");
    code.close("}");
}

pub(super) fn value(config: &Config, dialect: Dialect, column: &ResultColumn) -> String {
    let (field, name) = (ident(&column.name), &column.name);
    let given = types::driver(dialect, column.on(dialect), &column.ty.base);
    let newtype = types::newtype(column.rust.as_deref());
    let declared = column.rust.as_deref().filter(|rust| config.generated_words(rust).is_some());
    let convert = |value: &str| -> Option<String> {
        if let Some(rust) = declared {
            return Some(format!("diglot_support::word::<{rust}>({name:?}, &{value})"));
        }
        let plain =
            times::read(config, dialect, column, value).or_else(|| conversion_of(&given, &column.ty.base, name, value));
        match (&newtype, plain) {
            (None, plain) => plain,
            // A conversion gives what it is asked for, so it is said which type that is.
            (Some(_), Some(plain)) => {
                let given = types::plain(config.libraries(), &column.ty.base);
                Some(format!("diglot_support::newtype::<{given}, _>({name:?}, {plain}?)"))
            }
            (Some(_), None) => Some(format!("diglot_support::newtype({name:?}, {value})")),
        }
    };
    let read = widths::widened(dialect, &given, &field);
    if column.ty.nullable {
        return match convert("value") {
            Some(converted) => format!("{read}.map(|value| {converted}).transpose()?"),
            None => read,
        };
    }
    let required = format!("diglot_support::required({name:?}, {read})?");
    convert(&required).map_or(required, |converted| converted + "?")
}

/// The call that turns the driver's value into the API's plain type; `None` when it already is.
fn conversion_of(given: &Base, wanted: &Base, name: &str, value: &str) -> Option<String> {
    if given == wanted {
        return None;
    }
    let function = match wanted {
        Base::Enum(words) => {
            let enum_name = super::enums::name(words);
            return Some(format!("diglot_support::word::<{enum_name}>({name:?}, &{value})"));
        }
        Base::Bool => return Some(format!("diglot_support::boolean({name:?}, {value}.into())")),
        Base::Uuid => "uuid",
        Base::Json => "json",
        Base::TextArray | Base::Int64Array if *given == Base::Json => "from_json",
        Base::TextArray | Base::Int64Array => "list",
        Base::UuidArray => "uuid_list",
        _ => "integer",
    };
    Some(format!("diglot_support::{function}({name:?}, {value})"))
}
