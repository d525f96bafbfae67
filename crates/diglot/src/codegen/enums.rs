//! Enums of Postgres as enums of Rust: a text on SQLite, a value of its own type on Postgres.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{Code, line};
use super::{Api, structs};
use crate::config::Config;
use crate::dialect::Dialect;
use crate::infer::Signature;
use crate::names::camel;
use crate::types::{Base, Enum};

/// The name of the Rust enum.
pub(super) fn name(words: &Enum) -> String {
    camel(&spelled(&words.name))
}

/// A word with nothing but what a name may hold.
fn spelled(word: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let text: String = word.chars().map(plain).collect();
    let text = text.trim_matches('_').to_owned();
    match text.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => text,
        _ => format!("word_{text}"),
    }
}

/// The names of the variants: each word's own, with a number where two words would have one name.
fn variants(words: &Enum) -> Vec<(String, &str)> {
    let mut taken = BTreeSet::from(["Self".to_owned()]);
    let named = words.words.iter().enumerate().map(|(at, word)| {
        let name = camel(&spelled(word));
        let name = if taken.insert(name.clone()) { name } else { format!("{name}{at}") };
        taken.insert(name.clone());
        (name, word.as_str())
    });
    named.collect()
}

/// Every enum that a parameter or a column of some statements has, by its Rust name.
pub(super) fn of<'a>(signatures: impl Iterator<Item = &'a Signature>) -> BTreeMap<String, &'a Enum> {
    let words = |base: &'a Base| match base {
        Base::Enum(words) => Some((name(words), &**words)),
        _ => None,
    };
    let bases = signatures.flat_map(|signature| {
        let params = signature.params.iter().map(|param| &param.ty.base);
        params.chain(signature.columns.iter().map(|column| &column.ty.base))
    });
    bases.filter_map(words).collect()
}

fn used<'a>(api: &'a Api<'_>) -> BTreeMap<String, &'a Enum> {
    of(api.functions.iter().map(|function| function.signature))
}

/// The expression that binds a value.
pub(super) fn bound(dialect: Dialect, value: &str) -> String {
    match dialect {
        Dialect::Sqlite => format!("{value}.as_str()"),
        Dialect::Pg => value.to_owned(),
    }
}

/// The conversion that enums need, if there are any.
pub(super) fn conversion(api: &Api<'_>) -> Option<&'static str> {
    (!used(api).is_empty()).then_some(include_str!("support/word.in"))
}

/// The enums themselves.
pub(super) fn definitions(code: &mut Code, style: &structs::Style, api: &Api<'_>) {
    for (rust, words) in used(api) {
        let variants = variants(words);
        code.gap();
        code.doc(&format!("The words of `{}`.", words.name));
        line!(
            code,
            "#[derive({}, Copy, PartialEq, Eq, Hash)]",
            style.derives_without(&["Copy", "PartialEq", "Eq", "Hash"])
        );
        code.open(format_args!("{} enum {rust} {{", style.seen));
        for (variant, word) in &variants {
            code.doc(&format!("`{word}`"));
            line!(code, "{variant},");
        }
        code.close("}");
        code.gap();
        code.open(format_args!("impl {rust} {{"));
        code.doc("The word.");
        code.open(format_args!("{} fn as_str(self) -> &'static str {{", style.seen));
        code.open(format_args!("match self {{"));
        variants.iter().for_each(|(variant, word)| line!(code, "Self::{variant} => {word:?},"));
        code.close("}");
        code.close("}");
        code.close("}");
        code.gap();
        code.open(format_args!("impl std::str::FromStr for {rust} {{"));
        line!(code, "type Err = String;");
        code.gap();
        code.open(format_args!("fn from_str(word: &str) -> Result<Self, Self::Err> {{"));
        code.open(format_args!("match word {{"));
        variants.iter().for_each(|(variant, word)| line!(code, "{word:?} => Ok(Self::{variant}),"));
        line!(code, "other => Err(format!(\"`{{other}}` is no word of `{}`\")),", words.name);
        code.close("}");
        code.close("}");
        code.close("}");
        on_pg(code, api.config, &rust, words);
    }
}

/// What the driver of Postgres has to know of an enum.
fn on_pg(code: &mut Code, config: &Config, rust: &str, words: &Enum) {
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
    line!(code, "}}");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_a_name_of_its_own() {
        let words = ["new", "in progress", "in-progress", "3rd", "self"].map(str::to_owned).to_vec();
        let words = Enum { name: "task_state".to_owned(), words };
        let named: Vec<String> = variants(&words).into_iter().map(|(name, _)| name).collect();
        assert_eq!(named, ["New", "InProgress", "InProgress2", "Word3rd", "Self4"]);
        assert_eq!(name(&words), "TaskState");
    }
}
