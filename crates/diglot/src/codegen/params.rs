//! Parameter structs, and how their fields are bound.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::names::{camel, ident};
use super::{structs, types};
use crate::dialect::Dialect;
use crate::infer::{Param, Signature};
use crate::types::Base;

/// The struct that holds the parameters of a statement; nothing for a statement without any.
pub(super) fn definition(signature: &Signature) -> Option<TokenStream> {
    if signature.params.is_empty() {
        return None;
    }
    let fields = signature.params.iter().map(|param| structs::Field {
        name: &param.name,
        doc: match param.optional {
            true => format!("`:{}`, {}; without it its condition is left out.", param.name, param.ty),
            false => format!("`:{}`, {}.", param.name, param.ty),
        },
        ty: types::field(&param.ty.base, param.ty.nullable || param.optional, param.rust.as_deref()),
    });
    let doc = format!("Parameters of `{}`.", signature.name);
    Some(structs::documented(&format!("{}Params", camel(&signature.name)), &doc, fields))
}

/// The path of the struct from the file's top, if there is one.
pub(super) fn path(signature: &Signature) -> Option<TokenStream> {
    let (module, name) = (ident(&signature.noun), format_ident!("{}Params", camel(&signature.name)));
    (!signature.params.is_empty()).then(|| quote!(#module::#name))
}

/// The value of an optional parameter inside the arm of its variants.
pub(super) fn given(param: &str) -> proc_macro2::Ident {
    ident(&format!("given_{param}"))
}

/// The expression that binds a parameter. Large values are borrowed; a newtype is cloned to be turned into
/// its plain form.
pub(super) fn bind(dialect: Dialect, param: &Param) -> TokenStream {
    let field = ident(&param.name);
    let value = if param.optional {
        let given = given(&param.name);
        quote!((*#given))
    } else {
        quote!(params.#field)
    };
    match types::newtype(param.rust.as_deref()) {
        Some(_) => converted(dialect, param, &value),
        None if param.optional && is_copied(&param.ty.base) => {
            let given = given(&param.name);
            quote!(*#given)
        }
        None => borrowed(dialect, &param.ty.base, param.ty.nullable, &value),
    }
}

fn converted(dialect: Dialect, param: &Param, value: &TokenStream) -> TokenStream {
    let plain = types::callable(&param.ty.base);
    let is_text = dialect == Dialect::Sqlite && param.ty.base == Base::Json;
    match (param.ty.nullable, is_text) {
        (false, false) => quote!(#plain::from(#value.clone())),
        (true, false) => quote!(#value.clone().map(#plain::from)),
        (false, true) => quote!(#plain::from(#value.clone()).to_string()),
        (true, true) => quote!(#value.clone().map(|value| #plain::from(value).to_string())),
    }
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
