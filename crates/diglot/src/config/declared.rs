//! `[[declared]]`: what several statements declare for one reason.

use std::collections::BTreeMap;

/// A `[[declared]]` of `diglot.toml`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Declared {
    /// `allow(RULE)`, `diverges(FACT)`: what would stand above each statement.
    pub says: Vec<String>,
    /// The statements that it is said of.
    pub on: DeclaredOn,
    /// Why.
    pub reason: String,
}

/// The statements that a `[[declared]]` is about.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum DeclaredOn {
    /// By their names; a star stands for any letters.
    Names(Vec<String>),
    /// By their names, each with the seals that its differences have.
    Sealed(BTreeMap<String, Seals>),
}

/// The seals of a statement's differences, in the order of what is said of them.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Seals {
    /// Of one difference.
    One(String),
    /// Of several.
    Several(Vec<String>),
}

impl Seals {
    fn each(&self) -> &[String] {
        match self {
            Self::One(seal) => std::slice::from_ref(seal),
            Self::Several(seals) => seals,
        }
    }
}

impl DeclaredOn {
    /// The names, with the seals if they have some.
    pub(crate) fn each(&self) -> Vec<(&str, Option<&[String]>)> {
        match self {
            Self::Names(names) => names.iter().map(|name| (name.as_str(), None)).collect(),
            Self::Sealed(each) => each.iter().map(|(name, of)| (name.as_str(), Some(of.each()))).collect(),
        }
    }
}
