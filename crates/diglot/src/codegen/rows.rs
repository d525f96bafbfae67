//! Row structs, and how what a driver gives becomes one.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::names::{camel, ident};
use super::{structs, types};
use crate::dialect::Dialect;
use crate::infer::{ResultColumn, Signature};
use crate::types::Base;

/// The struct of a result row; nothing for a statement that gives none.
pub(super) fn definition(signature: &Signature) -> Option<TokenStream> {
    if signature.columns.is_empty() {
        return None;
    }
    let fields = signature.columns.iter().map(|column| structs::Field {
        name: &column.name,
        doc: format!("`{}`, {}.", super::names::doc_line(&column.name), column.ty),
        ty: types::field(&column.ty.base, column.ty.nullable, column.rust.as_deref()),
    });
    let doc = format!("A row of `{}`.", signature.name);
    Some(structs::documented(&format!("{}Row", camel(&signature.name)), &doc, fields))
}

/// The path of the struct from the file's top, if there is one.
pub(super) fn path(signature: &Signature) -> Option<TokenStream> {
    let (module, name) = (ident(&signature.noun), format_ident!("{}Row", camel(&signature.name)));
    (!signature.columns.is_empty()).then(|| quote!(#module::#name))
}

/// `struct Record` with the driver's types and `fn row` that turns one into the API's row.
pub(super) fn conversion(dialect: Dialect, signature: &Signature) -> TokenStream {
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
    quote! {
        struct Record { #(#fields),* }
        fn row(record: Record) -> Result<#row, sqlx::Error> {
            Ok(#row { #(#values),* })
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
