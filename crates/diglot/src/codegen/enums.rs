//! Enums of Rust: of those of Postgres, which are a text on SQLite and a value of their own type on Postgres, and of the
//! words that the settings declare, which are a text on both.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{Code, line};
use super::{Api, LINTS, structs};
use crate::config::{Config, Driver, Words};
use crate::dialect::Dialect;
use crate::emitted::EmittedText;
use crate::infer::{CHOICE, Signature};
use crate::names::{camel, ident};
use crate::page::Chooser;
use crate::types::{Base, Enum};

/// The name of the Rust enum.
pub(super) fn name(words: &Enum) -> String {
    camel(&spelled(&words.name))
}

/// A word with nothing but what a name may hold.
pub(super) fn spelled(word: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let text: String = word.chars().map(plain).collect();
    let text = text.trim_matches('_').to_owned();
    match text.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => text,
        _ => format!("word_{text}"),
    }
}

/// The names of the variants: each word's own, with a number where two words would have one name.
fn variants(words: &Enum, other: bool) -> Vec<(String, &str)> {
    named_apart(&words.words, if other { &[OTHER] } else { &[] })
}

/// The same beside variants that are there anyway.
pub(super) fn named_apart<'w>(words: &'w [String], kept: &[&str]) -> Vec<(String, &'w str)> {
    let mut taken: BTreeSet<String> = kept.iter().chain(&["Self"]).map(|name| (*name).to_owned()).collect();
    let named = words.iter().enumerate().map(|(at, word)| {
        let name = camel(&spelled(word));
        let name = if taken.insert(name.clone()) { name } else { format!("{name}{at}") };
        taken.insert(name.clone());
        (name, word.as_str())
    });
    named.collect()
}

/// The variant for what is none of the words.
const OTHER: &str = "Other";

/// The enum of a type of Postgres.
fn of_type(base: &Base) -> Option<(String, &Enum)> {
    match base {
        Base::Enum(words) if !words.is_of_orders() => Some((name(words), &**words)),
        _ => None,
    }
}

/// The enum of the orders of a statement, if it has some.
fn orders(signature: &Signature) -> Option<&Enum> {
    let param = signature.params.iter().find(|param| param.is_choice())?;
    match &param.ty.base {
        Base::Enum(words) => Some(words),
        _ => None,
    }
}

/// The name of that enum.
pub(super) fn order_name(statement: &str) -> String {
    camel(&format!("{statement}_{CHOICE}"))
}

/// Every enum of Postgres that a parameter or a column of some statements has, by its Rust name.
fn used<'a>(api: &'a Api<'_>) -> BTreeMap<String, &'a Enum> {
    let bases = api.signatures().flat_map(|signature| {
        let fields = signature.rows.iter().flat_map(|rows| &rows.fields);
        let params = signature.params.iter().chain(fields).map(|param| &param.ty.base);
        params.chain(signature.columns.iter().map(|column| &column.ty.base))
    });
    bases.filter_map(of_type).collect()
}

/// The names of the generated enums that some statements speak of.
pub(super) fn named<'a>(config: &Config, signatures: impl Iterator<Item = &'a Signature>) -> BTreeSet<String> {
    let declared = |rust: Option<&String>| rust.filter(|rust| config.generated_words(rust).is_some()).cloned();
    let mut names = BTreeSet::new();
    for signature in signatures {
        let fields = signature.rows.iter().flat_map(|rows| &rows.fields);
        for param in signature.params.iter().chain(fields) {
            names.extend(of_type(&param.ty.base).map(|(name, _)| name).or_else(|| declared(param.rust.as_ref())));
        }
        for column in &signature.columns {
            names.extend(of_type(&column.ty.base).map(|(name, _)| name).or_else(|| declared(column.rust.as_ref())));
        }
    }
    names
}

/// The variant by which a caller chooses the order that a text has.
pub(super) fn order_of(signature: &Signature, text: &EmittedText) -> Option<String> {
    let words = orders(signature)?;
    let chosen = text.variant.given.iter().find_map(Chooser::order)?;
    let (variant, _) = variants(words, false).into_iter().find(|(_, word)| *word == chosen)?;
    Some(format!("{}::{}::{variant}", ident(&signature.noun), name(words)))
}

/// The expression that binds a value.
pub(super) fn bound(dialect: Dialect, value: &str) -> String {
    match dialect {
        Dialect::Sqlite => format!("{value}.as_str()"),
        Dialect::Pg => value.to_owned(),
    }
}

/// The expression that binds the word of a declared enum.
pub(super) fn bound_word(value: &str, is_borrowed: bool, nullable: bool) -> String {
    match (nullable, is_borrowed) {
        (false, _) => format!("{value}.as_str()"),
        (true, false) => format!("{value}.as_ref().map(|word| word.as_str())"),
        (true, true) => format!("{value}.map(|word| word.as_str())"),
    }
}

/// The expression that binds a list of words of a declared enum.
pub(super) fn bound_words(config: &Config, dialect: Dialect, value: &str, is_borrowed: bool, nullable: bool) -> String {
    let texts = |list: &str| match dialect {
        Dialect::Sqlite => format!("diglot_support::texts(&diglot_support::words({list}))"),
        Dialect::Pg => format!("diglot_support::words({list})"),
    };
    let bound = match (nullable, is_borrowed) {
        (false, false) => texts(&format!("&{value}")),
        (false, true) => texts(value),
        (true, false) => format!("{value}.as_deref().map(|list| {})", texts("list")),
        (true, true) => format!("{value}.map(|list| {})", texts("list")),
    };
    bound + as_any(config, dialect)
}

/// What tells sqlx's macros to take a value of a type that they do not know for what it meets on Postgres.
pub(super) fn as_any(config: &Config, dialect: Dialect) -> &'static str {
    if config.generate.queries.is_macro() && dialect == Dialect::Pg { " as _" } else { "" }
}

/// The conversion that enums need, if there are any.
pub(super) fn conversion(api: &Api<'_>) -> Option<&'static str> {
    (!named(api.config, api.signatures()).is_empty()).then_some(include_str!("support/word.in"))
}

/// The enums themselves: those of Postgres that statements speak of, and all that the settings declare.
pub(super) fn definitions(code: &mut Code, style: &structs::Style, api: &Api<'_>) {
    for (rust, words) in used(api) {
        definition(code, style, &rust, words, false);
        on_pg(code, api.config, &rust, words);
    }
    let mut declared: BTreeMap<&str, (Vec<&str>, &Words)> = BTreeMap::new();
    for (column, words) in api.config.words.iter().filter(|(_, words)| words.is_generated()) {
        let Some(rust) = &words.rust else { continue };
        declared.entry(rust).or_insert_with(|| (Vec::new(), words)).0.push(column);
    }
    for (rust, (columns, declared)) in declared {
        let words = Enum { name: columns.join("`, `"), words: declared.words.clone() };
        definition(code, style, rust, &words, declared.other);
    }
}

/// The enum of the orders of a statement, in the module of its noun.
pub(super) fn of_orders(code: &mut Code, style: &structs::Style, signature: &Signature) {
    if let Some(words) = orders(signature) {
        definition(code, style, &order_name(&signature.name), words, false);
    }
}

/// An enum with its conversions.
fn definition(code: &mut Code, style: &structs::Style, rust: &str, words: &Enum, other: bool) {
    let variants = variants(words, other);
    let (copied, by) = if other { ("", "&self") } else { ("Copy, ", "self") };
    code.gap();
    code.doc(&format!("The words of `{}`.", words.name));
    line!(code, "{LINTS}");
    line!(
        code,
        "#[derive({}, {copied}PartialEq, Eq, Hash)]",
        style.derives_without(&["Copy", "PartialEq", "Eq", "Hash"])
    );
    code.open(format_args!("{} enum {rust} {{", style.seen));
    for (variant, word) in &variants {
        code.doc(&format!("`{word}`"));
        line!(code, "{variant},");
    }
    if other {
        code.doc("Any other word.");
        line!(code, "{OTHER}(String),");
    }
    code.close("}");
    code.gap();
    line!(code, "{LINTS}");
    code.open(format_args!("impl {rust} {{"));
    code.doc("The word.");
    let lifetime = if other { "&str" } else { "&'static str" };
    code.open(format_args!("{} fn as_str({by}) -> {lifetime} {{", style.seen));
    code.open(format_args!("match self {{"));
    variants.iter().for_each(|(variant, word)| line!(code, "Self::{variant} => {word:?},"));
    if other {
        line!(code, "Self::{OTHER}(word) => word,");
    }
    code.close("}");
    code.close("}");
    code.close("}");
    conversions(code, rust, words, &variants, other);
}

/// From a word and to one.
fn conversions(code: &mut Code, rust: &str, words: &Enum, variants: &[(String, &str)], other: bool) {
    code.gap();
    code.open(format_args!("impl std::str::FromStr for {rust} {{"));
    line!(code, "type Err = String;");
    code.gap();
    code.open(format_args!("fn from_str(word: &str) -> Result<Self, Self::Err> {{"));
    code.open(format_args!("match word {{"));
    variants.iter().for_each(|(variant, word)| line!(code, "{word:?} => Ok(Self::{variant}),"));
    match other {
        true => line!(code, "other => Ok(Self::{OTHER}(other.to_owned())),"),
        false => line!(code, "other => Err(format!(\"`{{other}}` is no word of `{}`\")),", words.name),
    }
    code.close("}");
    code.close("}");
    code.close("}");
    if other {
        code.gap();
        code.open(format_args!("impl From<String> for {rust} {{"));
        code.open(format_args!("fn from(word: String) -> Self {{"));
        code.open(format_args!("match word.as_str() {{"));
        variants.iter().for_each(|(variant, word)| line!(code, "{word:?} => Self::{variant},"));
        line!(code, "_ => Self::{OTHER}(word),");
        code.close("}");
        code.close("}");
        code.close("}");
    }
    code.gap();
    code.open(format_args!("impl std::fmt::Display for {rust} {{"));
    code.open(format_args!("fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {{"));
    line!(code, "f.write_str(self.as_str())");
    code.close("}");
    code.close("}");
    code.gap();
    code.open(format_args!("impl From<{rust}> for String {{"));
    code.open(format_args!("fn from(word: {rust}) -> Self {{"));
    line!(code, "word.as_str().to_owned()");
    code.close("}");
    code.close("}");
}

/// What the driver of Postgres has to know of an enum.
fn on_pg(code: &mut Code, config: &Config, rust: &str, words: &Enum) {
    if config.generate.driver == Driver::Pair {
        code.gap();
        code.block(&super::either::gated(config, &OF_TOKIO_POSTGRES.replace("RUST", rust)));
        return;
    }
    let guarded = |code: &mut Code| {
        code.gap();
        super::feature(code, config, Dialect::Pg);
    };
    guarded(code);
    code.open(format_args!("impl sqlx::Type<sqlx::Postgres> for {rust} {{"));
    code.open(format_args!("fn type_info() -> sqlx::postgres::PgTypeInfo {{"));
    line!(code, "sqlx::postgres::PgTypeInfo::with_name({:?})", words.name);
    code.close("}");
    code.close("}");
    guarded(code);
    code.open(format_args!("impl sqlx::Encode<'_, sqlx::Postgres> for {rust} {{"));
    code.list(
        "fn encode_by_ref(",
        &["&self", "buffer: &mut sqlx::postgres::PgArgumentBuffer"],
        ") -> Result<sqlx::encode::IsNull, sqlx::error::BoxDynError> {",
    );
    code.inside(|code| {
        line!(code, "sqlx::Encode::<sqlx::Postgres>::encode_by_ref(&self.as_str(), buffer)");
    });
    code.close("}");
    code.close("}");
    if !config.generate.queries.is_macro() {
        guarded(code);
        code.open(format_args!("impl sqlx::Decode<'_, sqlx::Postgres> for {rust} {{"));
        code.open(format_args!(
            "fn decode(value: sqlx::postgres::PgValueRef<'_>) -> Result<Self, sqlx::error::BoxDynError> {{"
        ));
        line!(code, "Ok(value.as_str()?.parse::<Self>()?)");
        code.close("}");
        code.close("}");
    }
}

/// The same for tokio-postgres: a word goes as a text of the type that it meets.
const OF_TOKIO_POSTGRES: &str = include_str!("support/enum_tokio.in");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_a_name_of_its_own() {
        let words = ["new", "in progress", "in-progress", "3rd", "self"].map(str::to_owned).to_vec();
        let words = Enum { name: "task_state".to_owned(), words };
        let named: Vec<String> = variants(&words, false).into_iter().map(|(name, _)| name).collect();
        assert_eq!(named, ["New", "InProgress", "InProgress2", "Word3rd", "Self4"]);
        assert_eq!(name(&words), "TaskState");
        let words = Enum { name: "t.s".to_owned(), words: vec!["other".to_owned()] };
        assert_eq!(variants(&words, true), [("Other0".to_owned(), "other")]);
    }
}
