//! Row structs, and how what a driver gives becomes one.

use std::borrow::Cow;

use super::code::{Code, line};
use super::{Function, calls, keys, list, structs, times, types, widths};
use crate::config::{Config, Queries};
use crate::dialect::Dialect;
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
        let ty = pg.map_or_else(|| types::plain(config.libraries(), &given), Cow::Borrowed);
        line!(code, "{}: Option<{ty}>,", ident(&column.name));
    }
    code.close("}");
    if !config.generate.queries.is_macro() {
        code.gap();
        decode(code, config, dialect, signature);
    }
    code.gap();
    code.open(format_args!("fn row(record: Record) -> Result<{row}, sqlx::Error> {{"));
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

/// Reads the driver's row: by the places of its columns where engines have said them, by their names otherwise.
fn decode(code: &mut Code, config: &Config, dialect: Dialect, signature: &Signature) {
    let row = driver_row(dialect);
    code.open(format_args!("fn record(row: &{row}) -> Result<Record, sqlx::Error> {{"));
    code.open(format_args!("Ok(Record {{"));
    let is_known = config.generate.queries == Queries::Checked;
    for (at, column) in signature.columns.iter().enumerate() {
        let place = if is_known { at.to_string() } else { format!("{:?}", column.name) };
        line!(code, "{}: sqlx::Row::try_get(row, {place})?,", ident(&column.name));
    }
    code.close("})");
    code.close("}");
}

/// The row that a driver gives.
pub(super) fn driver_row(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "sqlx::sqlite::SqliteRow",
        Dialect::Pg => "sqlx::postgres::PgRow",
    }
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
