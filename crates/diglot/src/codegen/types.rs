//! The Rust types behind logical types.

use std::borrow::Cow;

use proc_macro2::TokenStream;
use quote::ToTokens as _;

use super::times;
use crate::config::{Config, Libraries};
use crate::dialect::Dialect;
use crate::names::is_plain;
use crate::types::{Base, Of};

/// The type that the API uses for a logical type when no newtype is configured.
pub(super) fn plain(libraries: Libraries, base: &Base) -> Cow<'static, str> {
    Cow::Borrowed(match base {
        Base::Enum(words) => return Cow::Owned(super::enums::name(words)),
        Base::Numeric => times::plain(libraries, Of::Decimal),
        Base::Timestamp => times::plain(libraries, Of::Timestamp),
        Base::DateTime => times::plain(libraries, Of::DateTime),
        Base::Date => times::plain(libraries, Of::Date),
        Base::TimeOfDay => times::plain(libraries, Of::TimeOfDay),
        Base::Stored(stored) => return plain(libraries, stored.form.seen()),
        Base::Bool => "bool",
        Base::Int16 => "i16",
        Base::Int32 => "i32",
        // An interval does not reach a signature; 64 bits are what a cast would make of it.
        Base::Int64 | Base::Interval => "i64",
        Base::Float64 => "f64",
        Base::Text => "String",
        Base::Bytes => "Vec<u8>",
        Base::Uuid => "uuid::Uuid",
        Base::Json => "serde_json::Value",
        Base::TextArray => "Vec<String>",
        Base::Int64Array => "Vec<i64>",
        Base::UuidArray => "Vec<uuid::Uuid>",
    })
}

/// The same type where a function of it is named.
pub(super) fn callable(libraries: Libraries, base: &Base) -> Cow<'static, str> {
    let plain = plain(libraries, base);
    match plain.split_once('<') {
        Some((name, rest)) => Cow::Owned(format!("{name}::<{rest}")),
        None => plain,
    }
}

/// The type of a field: a newtype where one is configured, of which a list has many, `Option` where NULL is allowed.
pub(super) fn field(libraries: Libraries, base: &Base, nullable: bool, rust: Option<&str>) -> String {
    let named = newtype(rust).map(|one| if base.is_list() { format!("Vec<{one}>") } else { one.into_owned() });
    let inner = named.unwrap_or_else(|| match base {
        // A field stands in the module of its noun, as the orders of its statements do.
        Base::Enum(words) if words.is_of_orders() => super::enums::name(words),
        Base::Enum(words) => format!("super::{}", super::enums::name(words)),
        base => plain(libraries, base).into_owned(),
    });
    if nullable { format!("Option<{inner}>") } else { inner }
}

/// The configured path as the module of a noun names it: a generated enum stands above that.
pub(super) fn in_noun(config: &Config, rust: Option<&str>) -> Option<String> {
    let rust = rust?;
    Some(if config.generated_words(rust).is_some() { format!("super::{rust}") } else { rust.to_owned() })
}

/// The configured path; text that is no path counts as none.
pub(super) fn newtype(rust: Option<&str>) -> Option<Cow<'_, str>> {
    let rust = rust?;
    // Most are words with `::` between, of which nothing else can come.
    let (owner, name) = rust.rsplit_once("::").unwrap_or(("", rust));
    if is_plain(name)
        && (owner.is_empty() || owner.split("::").all(|word| is_plain(word) || ["crate", "super"].contains(&word)))
    {
        return Some(Cow::Borrowed(rust));
    }
    let path = syn::parse_str::<syn::TypePath>(rust).ok()?;
    Some(Cow::Owned(compact(path.to_token_stream())))
}

/// Tokens of a type or a path without the spaces that nothing needs.
pub(super) fn compact(tokens: TokenStream) -> String {
    let text = tokens.to_string();
    [(" :: ", "::"), (":: ", "::"), (" < ", "<"), (" >", ">"), (" ,", ","), ("pub (", "pub(")]
        .iter()
        .fold(text, |text, (loose, tight)| text.replace(loose, tight))
}

/// What a driver gives for a value that the API shows as `wanted`.
pub(super) fn driver(dialect: Dialect, given: Option<&Base>, wanted: &Base) -> Base {
    let given = given.unwrap_or(wanted);
    match dialect {
        Dialect::Pg => given.clone(),
        // SQLite knows four storage classes and nothing finer.
        Dialect::Sqlite => match given {
            Base::Stored(stored) => stored.form.seen().clone(),
            Base::Bool | Base::Int16 | Base::Int32 | Base::Int64 => Base::Int64,
            Base::Numeric | Base::Timestamp | Base::DateTime | Base::Date | Base::TimeOfDay | Base::Interval => {
                Base::Int64
            }
            Base::Float64 => Base::Float64,
            Base::Bytes | Base::Uuid => Base::Bytes,
            Base::Enum(_) => Base::Text,
            Base::Text | Base::Json | Base::TextArray | Base::Int64Array | Base::UuidArray => Base::Text,
        },
    }
}
