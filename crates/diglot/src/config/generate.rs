//! How the generated Rust looks: the table `[generate]`, or `generate = false` where there is to be none.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use crate::diagnostic::{Diagnostic, Severity};
use crate::names;
use crate::rule;

/// The table `[generate]`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Generate {
    /// Whether any is wanted. Without it pages are compared, and nothing is asked for that only the API needs.
    #[serde(skip)]
    pub enabled: bool,
    /// The drivers that are called.
    pub driver: Driver,
    /// How statements are called.
    pub queries: Queries,
    /// Whether there is one trait or one per noun.
    pub traits: Traits,
    /// Whether parameter structs own their values.
    pub params: Ownership,
    /// Traits that structs derive beside `Debug` and `Clone`, as paths.
    pub derive: Vec<String>,
    /// Who may see what is generated: `pub`, `pub(crate)` or `pub(in path)`.
    pub visibility: String,
    /// The path of a module around everything; empty: there is none.
    pub module: String,
    /// Whether there is a module with one connection, pool and transaction for both databases.
    pub either: bool,
    /// Which query builder gets the tables that both databases have.
    pub tables: Tables,
}

/// The drivers that are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Driver {
    /// sqlx, for both databases.
    #[serde(rename = "sqlx")]
    Sqlx,
    /// rusqlite for SQLite, tokio-postgres for Postgres.
    #[serde(rename = "rusqlite+tokio-postgres")]
    Pair,
}

/// Which query builder gets the tables that both databases have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Tables {
    /// None.
    None,
    /// sea-query, with its binder for sqlx.
    SeaQuery,
}

/// How statements are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Queries {
    /// With sqlx's functions, whose types the compiler has held against the recorded answers in `.sqlx`.
    Checked,
    /// With sqlx's macros, which hold them against the answers once more while the crate is built.
    Macros,
    /// With sqlx's functions and explicit decoding, which need no answers.
    Plain,
}

impl Queries {
    /// Whether sqlx's macros are called.
    pub(crate) fn is_macro(self) -> bool {
        self == Self::Macros
    }

    /// Whether engines must have answered.
    pub fn needs_answers(self) -> bool {
        self != Self::Plain
    }
}

/// Whether there is one trait or one per noun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Traits {
    /// `Statements`.
    One,
    /// `LeaseStatements`, `WorkerStatements`…
    Noun,
}

/// Whether parameter structs own their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Ownership {
    /// `String`, `Vec<u8>`…
    Owned,
    /// `&str`, `&[u8]`…
    Borrowed,
}

impl Default for Generate {
    fn default() -> Self {
        Self {
            enabled: true,
            driver: Driver::Sqlx,
            queries: Queries::Checked,
            traits: Traits::One,
            params: Ownership::Owned,
            derive: Vec::new(),
            visibility: "pub".to_owned(),
            module: String::new(),
            either: false,
            tables: Tables::None,
        }
    }
}

/// Rules about what only a generated API needs: names and types of parameters and columns in Rust, names of modules.
const OF_THE_API: [&str; 8] = [
    rule::BAD_FILE_NAME.name,
    rule::BAD_NAME.name,
    rule::CARDINALITY_COLUMNS.name,
    rule::COLUMN_DUPLICATE.name,
    rule::COLUMN_TYPE_CONFLICT.name,
    rule::COLUMN_TYPE_UNKNOWN.name,
    rule::COLUMN_UNNAMED.name,
    rule::PARAM_TYPE_UNKNOWN.name,
];

impl Generate {
    /// Reads the table, or the word that there is to be nothing.
    pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TableOrWord)
    }

    /// Whether a finding is of any use.
    pub(crate) fn asks_for(&self, finding: &Diagnostic) -> bool {
        // A column or a view whose type alone could not be read is taken as text, which matters to Rust alone.
        let is_type = finding.rule == rule::SCHEMA_UNREADABLE.name && finding.severity == Severity::Warning;
        self.enabled || !(is_type || OF_THE_API.contains(&finding.rule))
    }

    /// The first value that cannot be meant, with its key.
    pub(super) fn fault(&self) -> Option<(String, String)> {
        if let Some(path) = self.derive.iter().find(|path| syn::parse_str::<syn::Path>(path).is_err()) {
            return Some(("derive".to_owned(), format!("`{path}` is not the path of a trait")));
        }
        if self.driver != Driver::Sqlx && self.queries.is_macro() {
            return Some(("queries".to_owned(), "the macros are sqlx's: write `checked` or `plain`".to_owned()));
        }
        if self.driver != Driver::Sqlx && self.tables != Tables::None {
            return Some(("tables".to_owned(), "rows of built queries are read by sqlx alone".to_owned()));
        }
        let is_visible = match syn::parse_str::<syn::Visibility>(&self.visibility) {
            Ok(syn::Visibility::Public(_)) => true,
            // A path is the same in every module when it begins at the crate.
            Ok(syn::Visibility::Restricted(to)) => to.path.segments.first().is_some_and(|first| first.ident == "crate"),
            _ => false,
        };
        if !is_visible {
            let message = format!("`{}` must be `pub`, `pub(crate)` or `pub(in crate::…)`", self.visibility);
            return Some(("visibility".to_owned(), message));
        }
        if !self.module.is_empty() && self.modules().any(|name| syn::parse_str::<syn::Ident>(name).is_err()) {
            return Some(("module".to_owned(), format!("`{}` is not the path of a module", self.module)));
        }
        None
    }

    /// Whether a file's stem can be the name of a module beside those that are generated anyway.
    pub(crate) fn is_free(&self, noun: &str) -> bool {
        let is_own = match noun {
            "either" => self.either,
            "tables" => self.tables != Tables::None,
            "sqlite" | "pg" | "rusqlite" | "tokio_postgres" => self.driver == Driver::Pair,
            _ => false,
        };
        names::is_module_name(noun) && !is_own
    }

    /// The modules around everything, the outermost first.
    pub(crate) fn modules(&self) -> impl Iterator<Item = &str> {
        self.module.split("::").filter(|name| !name.is_empty())
    }
}

struct TableOrWord;

impl<'de> Visitor<'de> for TableOrWord {
    type Value = Generate;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`false`, or a table")
    }

    fn visit_bool<E: Error>(self, enabled: bool) -> Result<Generate, E> {
        Ok(Generate { enabled, ..Generate::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Generate, A::Error> {
        Ok(Generate { enabled: true, ..Generate::deserialize(MapAccessDeserializer::new(map))? })
    }
}
