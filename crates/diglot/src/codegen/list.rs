//! The list of rows that a function takes: the struct of a row, how the list is bound, and how each row finds its answers.

use super::code::{Code, line};
use super::{Function, calls, functions, keys, params, rows, structs, types};
use crate::config::Config;
use crate::dialect::Dialect;
use crate::emitted::{Holds, TextParam};
use crate::infer::{Matched, Param, ResultColumn, RowsParam, Signature};
use crate::names::{camel, ident};
use crate::page::{Cardinality, ORDINALITY};
use crate::types::Base;

/// What the generated module of conversions needs for lists of rows.
pub(super) const CONVERSIONS: &str = include_str!("support/rows.in");

/// The name of the struct of a row.
fn name(signature: &Signature, rows: &RowsParam) -> String {
    camel(&signature.name) + &camel(&rows.name)
}

/// The struct of a row; nothing for a statement that takes no list.
pub(super) fn definition(code: &mut Code, style: &structs::Style, config: &Config, signature: &Signature) {
    let Some(rows) = &signature.rows else { return };
    let of = format!("A row of the list that `{}` takes.", signature.name);
    let doc = |field: &Param| {
        let key =
            if rows.key.contains(&field.name) { ", of the key: no two rows of a call have the same one" } else { "" };
        format!("`{}.{}`, {}{key}.", rows.name, field.name, field.ty)
    };
    params::holding(code, style, config, (&name(signature, rows), &of), &rows.fields, doc);
}

/// The type of the list, if the function takes one.
pub(super) fn argument(config: &Config, signature: &Signature) -> Option<String> {
    let rows = signature.rows.as_ref()?;
    let lifetime = if params::borrows(config, &rows.fields) { "<'a>" } else { "" };
    Some(format!("list: &'a [{}::{}{lifetime}]", ident(&signature.noun), name(signature, rows)))
}

/// The columns of the result that the row's struct has: not the number by which an answer finds its row.
pub(super) fn shown(signature: &Signature) -> impl Iterator<Item = &ResultColumn> {
    let numbered = signature.rows.as_ref().is_some_and(|rows| rows.matched == Some(Matched::Ordinality));
    signature.columns.iter().filter(move |column| !(numbered && column.name == ORDINALITY))
}

/// What a function gives for a list: the answers of each row, in the order of the list.
pub(super) fn output(cardinality: Cardinality, row: &str) -> Option<String> {
    Some(match cardinality {
        Cardinality::One => format!("Vec<{row}>"),
        Cardinality::Opt => format!("Vec<Option<{row}>>"),
        Cardinality::Many => format!("Vec<Vec<{row}>>"),
        Cardinality::Exec | Cardinality::Rows | Cardinality::Stream => return None,
    })
}

/// What stands before the call: that no key is there twice, and on SQLite the document.
pub(super) fn prepare(code: &mut Code, config: &Config, dialect: Dialect, function: &Function<'_>, statement: &str) {
    let Some(rows) = &function.signature.rows else { return };
    if !rows.key.is_empty() {
        let key = rows.key.iter().filter_map(|name| field_of(function, name));
        let parts = key.map(|field| key_part(keys::place("row", field), config, field, true)).collect();
        let places = if rows.matched == Some(Matched::Key) { "let places = " } else { "" };
        let of_row = functions::tuple(parts);
        line!(code, "{places}diglot_support::places({statement}, list.iter().map(|row| {of_row}))?;");
    }
    if dialect == Dialect::Sqlite {
        code.open(format_args!("let document = diglot_support::document({statement}, list, |row, out| {{"));
        for field in &rows.fields {
            line!(code, "out.value(&{});", params::bind(config, dialect, false, ("row", field)));
        }
        code.close("})?;");
    }
}

/// The expression that binds the list, or one field of its rows; none for other parameters.
pub(super) fn bind(config: &Config, dialect: Dialect, function: &Function<'_>, used: &TextParam) -> Option<String> {
    match &used.holds {
        Holds::Value | Holds::Carried(_) | Holds::Handed(..) => None,
        // The arms of variants bind it, and each call runs one of them.
        Holds::Rows(_) => Some("document".to_owned()),
        Holds::Field(name) => {
            let field = function.signature.rows.as_ref()?.fields.iter().find(|field| field.name == *name)?;
            let value = match function.one {
                Some(one) => calls::bind(config, one, field)?,
                None => params::bind(config, dialect, false, ("row", field)),
            };
            let all = format!("list.iter().map(|row| {value}).collect::<Vec<_>>()");
            // sqlx's macros take no array whose elements may be NULL or are borrowed.
            let is_macro = config.generate.queries.is_macro();
            Some(if is_macro { format!("{all} as _") } else { all })
        }
    }
}

/// The place in the struct of a row for a field of the list.
fn field_of<'f>(function: &Function<'f>, name: &str) -> Option<&'f Param> {
    let fields = match function.one {
        Some(one) => &one.params,
        None => &function.signature.rows.as_ref()?.fields,
    };
    fields.iter().find(|field| field.name == name)
}

/// Gives each row of the list its answers.
pub(super) fn answers(code: &mut Code, config: &Config, dialect: Dialect, function: &Function<'_>, statement: &str) {
    let signature = function.signature;
    let Some((rows, matched)) = signature.rows.as_ref().and_then(|rows| Some((rows, rows.matched?))) else { return };
    let each = match signature.cardinality {
        Cardinality::One => "one_each",
        Cardinality::Opt => "opt_each",
        Cardinality::Many => "many_each",
        Cardinality::Exec | Cardinality::Rows | Cardinality::Stream => return,
    };
    code.open(format_args!("let answers = rows.into_iter().map(|record| {{"));
    match matched {
        Matched::Ordinality => {
            line!(code, "let at = diglot_support::ordinality({statement}, record.{ORDINALITY}, list.len())?;");
            line!(code, "Ok((at, row(record)?))");
        }
        Matched::Key => {
            let key = rows.key.iter().filter_map(|name| {
                let column = signature.columns.iter().find(|column| column.name == *name)?;
                Some((column, field_of(function, name)?))
            });
            let is_of_calls = function.one.is_some();
            if is_of_calls {
                // What a call gives may have no key.
                line!(code, "let own = record.clone();");
            }
            let mut parts = Vec::new();
            for (column, field) in key {
                let mut place = keys::place("answer", column);
                if is_of_calls {
                    place = format!("key_{}", column.name);
                    let value = rows::value(config, dialect, column).replace("record.", "own.");
                    line!(code, "let {place} = {value};");
                }
                parts.push(key_part(place, config, field, false));
            }
            line!(code, "let answer = row(record)?;");
            line!(code, "let at = diglot_support::place({statement}, places.get(&{}))?;", functions::tuple(parts));
            line!(code, "Ok((at, answer))");
        }
    }
    code.close("});");
    line!(code, "diglot_support::{each}({statement}, list.len(), answers)");
}

/// A part of the key, which stands there, as the list and the answers have it alike.
fn key_part(value: String, config: &Config, field: &Param, in_list: bool) -> String {
    let is_plain = types::newtype(field.rust.as_deref()).is_none();
    match &field.ty.base {
        _ if in_list && params::is_borrowed(config, field) => value,
        Base::Text if is_plain => value + ".as_str()",
        Base::Bytes if is_plain => value + ".as_slice()",
        _ => format!("&{value}"),
    }
}
