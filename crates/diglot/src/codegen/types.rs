//! The Rust types behind logical types.

use proc_macro2::TokenStream;
use quote::quote;

use crate::dialect::Dialect;
use crate::types::Base;

/// The type that the API uses for a logical type when no newtype is configured.
pub(super) fn plain(base: &Base) -> TokenStream {
    match base {
        Base::Bool => quote!(bool),
        Base::Int16 => quote!(i16),
        Base::Int32 => quote!(i32),
        // Neither reaches a signature; 64 bits are what a cast would make of them.
        Base::Int64 | Base::Numeric | Base::Timestamp => quote!(i64),
        Base::Float64 => quote!(f64),
        Base::Text => quote!(String),
        Base::Bytes => quote!(Vec<u8>),
        Base::Uuid => quote!(uuid::Uuid),
        Base::Json => quote!(serde_json::Value),
        Base::TextArray => quote!(Vec<String>),
        Base::Int64Array => quote!(Vec<i64>),
        Base::UuidArray => quote!(Vec<uuid::Uuid>),
    }
}

/// The same type where a function of it is named.
pub(super) fn callable(base: &Base) -> TokenStream {
    match base {
        Base::Bytes => quote!(Vec::<u8>),
        base => plain(base),
    }
}

/// The type of a field: a newtype where one is configured, `Option` where NULL is allowed.
pub(super) fn field(base: &Base, nullable: bool, rust: Option<&str>) -> TokenStream {
    let inner = newtype(rust).unwrap_or_else(|| plain(base));
    if nullable { quote!(Option<#inner>) } else { inner }
}

/// The configured path as tokens; text that is no path counts as none.
pub(super) fn newtype(rust: Option<&str>) -> Option<TokenStream> {
    let path = syn::parse_str::<syn::TypePath>(rust?).ok()?;
    Some(quote!(#path))
}

/// What a driver gives for a value that the API shows as `wanted`.
pub(super) fn driver(dialect: Dialect, given: Option<&Base>, wanted: &Base) -> Base {
    let given = given.unwrap_or(wanted);
    match dialect {
        Dialect::Pg => given.clone(),
        // SQLite knows four storage classes and nothing finer.
        Dialect::Sqlite => match given {
            Base::Bool | Base::Int16 | Base::Int32 | Base::Int64 | Base::Numeric | Base::Timestamp => Base::Int64,
            Base::Float64 => Base::Float64,
            Base::Bytes | Base::Uuid => Base::Bytes,
            Base::Text | Base::Json | Base::TextArray | Base::Int64Array | Base::UuidArray => Base::Text,
        },
    }
}
