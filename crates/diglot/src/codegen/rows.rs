//! Row structs, and how what a driver gives becomes one.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::names::{camel, ident};
use super::{structs, types};
use crate::config::{Config, Queries};
use crate::dialect::Dialect;
use crate::infer::{ResultColumn, Signature};
use crate::types::Base;

/// The struct of a result row; nothing for a statement that gives none.
pub(super) fn definition(config: &Config, signature: &Signature) -> Option<TokenStream> {
    if signature.columns.is_empty() {
        return None;
    }
    let fields = signature.columns.iter().map(|column| structs::Field {
        name: &column.name,
        doc: format!("`{}`, {}.", super::names::doc_line(&column.name), column.ty),
        ty: types::field(&column.ty.base, column.ty.nullable, column.rust.as_deref()),
    });
    let doc = format!("A row of `{}`.", signature.name);
    Some(structs::documented(&config.generate, &format!("{}Row", camel(&signature.name)), false, &doc, fields))
}

/// The path of the struct from the file's top, if there is one.
pub(super) fn path(signature: &Signature) -> Option<TokenStream> {
    let (module, name) = (ident(&signature.noun), format_ident!("{}Row", camel(&signature.name)));
    (!signature.columns.is_empty()).then(|| quote!(#module::#name))
}

/// `struct Record` with the driver's types and `fn row` that turns one into the API's row; without macros also
/// `fn record`, which reads one from the driver's row.
pub(super) fn conversion(config: &Config, dialect: Dialect, signature: &Signature) -> TokenStream {
    let Some(row) = path(signature) else { return TokenStream::new() };
    let fields = signature.columns.iter().map(|column| {
        let field = ident(&column.name);
        let ty = types::plain(&types::driver(dialect, column.on(dialect), &column.ty.base));
        quote!(#field: Option<#ty>)
    });
    let values = signature.columns.iter().map(|column| {
        let field = ident(&column.name);
        let value = value(dialect, column);
        quote!(#field: #value)
    });
    let decode = (config.generate.queries == Queries::Plain).then(|| decode(dialect, signature));
    quote! {
        struct Record { #(#fields),* }
        #decode
        fn row(record: Record) -> Result<#row, sqlx::Error> {
            Ok(#row { #(#values),* })
        }
    }
}

/// Reads the driver's row by the names of its columns.
fn decode(dialect: Dialect, signature: &Signature) -> TokenStream {
    let row = match dialect {
        Dialect::Sqlite => quote!(sqlx::sqlite::SqliteRow),
        Dialect::Pg => quote!(sqlx::postgres::PgRow),
    };
    let fields = signature.columns.iter().map(|column| {
        let (field, name) = (ident(&column.name), &column.name);
        quote!(#field: sqlx::Row::try_get(row, #name)?)
    });
    quote! {
        fn record(row: &#row) -> Result<Record, sqlx::Error> {
            Ok(Record { #(#fields),* })
        }
    }
}

fn value(dialect: Dialect, column: &ResultColumn) -> TokenStream {
    let field = ident(&column.name);
    let name = &column.name;
    let given = types::driver(dialect, column.on(dialect), &column.ty.base);
    let newtype = types::newtype(column.rust.as_deref());
    let convert = |value: TokenStream| -> Option<TokenStream> {
        let plain = conversion_of(&given, &column.ty.base, name, &value);
        match (&newtype, plain) {
            (None, plain) => plain,
            (Some(_), Some(plain)) => Some(quote!(diglot_support::newtype(#name, #plain?))),
            (Some(_), None) => Some(quote!(diglot_support::newtype(#name, #value))),
        }
    };
    if column.ty.nullable {
        return match convert(quote!(value)) {
            Some(converted) => quote!(record.#field.map(|value| #converted).transpose()?),
            None => quote!(record.#field),
        };
    }
    let required = quote!(diglot_support::required(#name, record.#field)?);
    convert(required.clone()).map_or(required, |converted| quote!(#converted?))
}

/// The call that turns the driver's value into the API's plain type; `None` when it already is.
fn conversion_of(given: &Base, wanted: &Base, name: &str, value: &TokenStream) -> Option<TokenStream> {
    if given == wanted {
        return None;
    }
    Some(match wanted {
        Base::Bool => quote!(diglot_support::boolean(#name, #value.into())),
        Base::Uuid => quote!(diglot_support::uuid(#name, #value)),
        Base::Json => quote!(diglot_support::json(#name, #value)),
        Base::TextArray | Base::Int64Array if *given == Base::Json => {
            quote!(diglot_support::from_json(#name, #value))
        }
        Base::TextArray | Base::Int64Array => quote!(diglot_support::list(#name, #value)),
        Base::UuidArray => quote!(diglot_support::uuid_list(#name, #value)),
        _ => quote!(diglot_support::integer(#name, #value)),
    })
}
