//! Parameter structs, and how their fields are bound.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::names::{camel, ident};
use super::{structs, types};
use crate::config::{Config, Ownership};
use crate::dialect::Dialect;
use crate::infer::{Param, Signature};
use crate::types::Base;

/// The struct that holds the parameters of a statement; nothing for a statement without any.
pub(super) fn definition(config: &Config, signature: &Signature) -> Option<TokenStream> {
    if signature.params.is_empty() {
        return None;
    }
    let fields = signature.params.iter().map(|param| structs::Field {
        name: &param.name,
        doc: match param.optional {
            true => format!("`:{}`, {}; without it its condition is left out.", param.name, param.ty),
            false => format!("`:{}`, {}.", param.name, param.ty),
        },
        ty: field(config, param),
    });
    let doc = format!("Parameters of `{}`.", signature.name);
    let name = format!("{}Params", camel(&signature.name));
    Some(structs::documented(&config.generate, &name, borrows(config, signature), &doc, fields))
}

/// The path of the struct from the file's top, if there is one.
pub(super) fn path(config: &Config, signature: &Signature) -> Option<TokenStream> {
    let (module, name) = (ident(&signature.noun), format_ident!("{}Params", camel(&signature.name)));
    let lifetime = borrows(config, signature).then(|| quote!(<'a>));
    (!signature.params.is_empty()).then(|| quote!(#module::#name #lifetime))
}

/// Whether the struct borrows.
fn borrows(config: &Config, signature: &Signature) -> bool {
    signature.params.iter().any(|param| is_borrowed(config, param))
}

/// Whether a field borrows its value.
fn is_borrowed(config: &Config, param: &Param) -> bool {
    config.generate.params == Ownership::Borrowed && (param.rust.is_some() || !is_copied(&param.ty.base))
}

fn field(config: &Config, param: &Param) -> TokenStream {
    let nullable = param.ty.nullable || param.optional;
    if !is_borrowed(config, param) {
        return types::field(&param.ty.base, nullable, param.rust.as_deref());
    }
    let inner = match (types::newtype(param.rust.as_deref()), &param.ty.base) {
        (Some(newtype), _) => quote!(&'p #newtype),
        (None, Base::Text) => quote!(&'p str),
        (None, Base::Bytes) => quote!(&'p [u8]),
        (None, Base::TextArray) => quote!(&'p [String]),
        (None, Base::Int64Array) => quote!(&'p [i64]),
        (None, Base::UuidArray) => quote!(&'p [uuid::Uuid]),
        (None, base) => {
            let plain = types::plain(base);
            quote!(&'p #plain)
        }
    };
    if nullable { quote!(Option<#inner>) } else { inner }
}

/// The value of an optional parameter inside the arm of its variants.
pub(super) fn given(param: &str) -> proc_macro2::Ident {
    ident(&format!("given_{param}"))
}

/// The expression that binds a parameter. Large values are borrowed; a newtype is cloned to be turned into
/// its plain form.
pub(super) fn bind(config: &Config, dialect: Dialect, param: &Param) -> TokenStream {
    let field = ident(&param.name);
    let value = if param.optional {
        let given = given(&param.name);
        quote!((*#given))
    } else {
        quote!(params.#field)
    };
    let is_borrowed = is_borrowed(config, param);
    match types::newtype(param.rust.as_deref()) {
        Some(_) => converted(dialect, param, is_borrowed, &value),
        None if is_borrowed => as_it_is(dialect, &param.ty.base, param.ty.nullable, &value),
        None if param.optional && is_copied(&param.ty.base) => {
            let given = given(&param.name);
            quote!(*#given)
        }
        None => borrowed(dialect, &param.ty.base, param.ty.nullable, &value),
    }
}

fn converted(dialect: Dialect, param: &Param, is_borrowed: bool, value: &TokenStream) -> TokenStream {
    let plain = types::callable(&param.ty.base);
    let is_text = dialect == Dialect::Sqlite && param.ty.base == Base::Json;
    let owned = match (is_borrowed, param.ty.nullable) {
        (false, _) => quote!(#value.clone()),
        (true, false) => quote!((*#value).clone()),
        (true, true) => quote!(#value.cloned()),
    };
    match (param.ty.nullable, is_text) {
        (false, false) => quote!(#plain::from(#owned)),
        (true, false) => quote!(#owned.map(#plain::from)),
        (false, true) => quote!(#plain::from(#owned).to_string()),
        (true, true) => quote!(#owned.map(|value| #plain::from(value).to_string())),
    }
}

/// The expression that binds a value that the struct has borrowed.
fn as_it_is(dialect: Dialect, base: &Base, nullable: bool, value: &TokenStream) -> TokenStream {
    let to_text = match (dialect, base) {
        (Dialect::Sqlite, Base::Json) => quote!(ToString::to_string),
        (Dialect::Sqlite, Base::TextArray) => quote!(diglot_support::texts),
        (Dialect::Sqlite, Base::Int64Array) => quote!(diglot_support::integers),
        (Dialect::Sqlite, Base::UuidArray) => quote!(diglot_support::uuids),
        _ => return value.clone(),
    };
    if nullable { quote!(#value.map(#to_text)) } else { quote!(#to_text(#value)) }
}

fn borrowed(dialect: Dialect, base: &Base, nullable: bool, value: &TokenStream) -> TokenStream {
    match base {
        Base::Text | Base::Bytes if nullable => quote!(#value.as_deref()),
        Base::Text => quote!(#value.as_str()),
        Base::Bytes => quote!(#value.as_slice()),
        Base::Json => match (dialect, nullable) {
            (Dialect::Pg, false) => quote!(&#value),
            (Dialect::Pg, true) => quote!(#value.as_ref()),
            (Dialect::Sqlite, false) => quote!(#value.to_string()),
            (Dialect::Sqlite, true) => quote!(#value.as_ref().map(ToString::to_string)),
        },
        Base::TextArray | Base::Int64Array | Base::UuidArray => {
            let list = match base {
                Base::TextArray => quote!(diglot_support::texts),
                Base::Int64Array => quote!(diglot_support::integers),
                _ => quote!(diglot_support::uuids),
            };
            match (dialect, nullable) {
                (Dialect::Pg, false) => quote!(#value.as_slice()),
                (Dialect::Pg, true) => quote!(#value.as_deref()),
                (Dialect::Sqlite, false) => quote!(#list(&#value)),
                (Dialect::Sqlite, true) => quote!(#value.as_deref().map(#list)),
            }
        }
        _ => value.clone(),
    }
}

/// Whether a value is handed over as it is.
fn is_copied(base: &Base) -> bool {
    match base {
        Base::Bool | Base::Int16 | Base::Int32 | Base::Int64 | Base::Float64 => true,
        Base::Uuid | Base::Numeric | Base::Timestamp => true,
        Base::Text | Base::Bytes | Base::Json | Base::TextArray | Base::Int64Array | Base::UuidArray => false,
    }
}
