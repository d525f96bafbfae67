//! What text columns may hold, and the Rust enums that stand for it: the table `[words]`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A line of `[words]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(
    test,
    derive(schemars::JsonSchema),
    schemars(with = "super::schema::Or<String, super::schema::Or<Vec<String>, Table>>")
)]
pub struct Words {
    /// The words; none where another line with the same enum lists them.
    pub words: Vec<String>,
    /// The Rust enum that stands for them: a name, by which one is generated, or the path of one that is there. Without
    /// it they are text in Rust.
    pub rust: Option<String>,
    /// Whether the generated enum keeps a stored word that is none of these in a variant `Other`. Without it such a word
    /// is an error where a row is read.
    pub other: bool,
}

/// A line that is written as a table.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Table {
    /// The Rust enum that stands for the words: a name, by which one is generated, or the path of one that is there.
    #[serde(rename = "enum")]
    rust: Option<String>,
    /// The words.
    #[serde(default)]
    words: Vec<String>,
    /// Whether the generated enum keeps a stored word that is none of these in a variant `Other`.
    #[serde(default)]
    other: bool,
}

impl Words {
    /// Whether diglot generates the enum.
    pub fn is_generated(&self) -> bool {
        self.rust.as_ref().is_some_and(|rust| !rust.contains("::"))
    }

    /// Gives lines that only name an enum the words of the line that lists them.
    pub(super) fn share(lines: &mut BTreeMap<String, Self>) {
        let listed: BTreeMap<String, Self> = lines
            .values()
            .filter(|line| !line.words.is_empty())
            .filter_map(|line| Some((line.rust.clone()?, line.clone())))
            .collect();
        for line in lines.values_mut().filter(|line| line.words.is_empty()) {
            if let Some(listed) = line.rust.as_ref().and_then(|rust| listed.get(rust)) {
                *line = listed.clone();
            }
        }
    }

    /// Why a line cannot be meant.
    pub(super) fn fault(&self, column: &str, lines: &BTreeMap<String, Self>) -> Option<String> {
        let mut seen = BTreeSet::new();
        if let Some(rust) = self.rust.as_ref().filter(|rust| syn::parse_str::<syn::TypePath>(rust).is_err()) {
            return Some(format!("`{rust}` is not the name of a Rust enum"));
        }
        if self.words.is_empty() {
            return Some(match &self.rust {
                Some(rust) => format!("no line lists the words of `{rust}`"),
                None => format!("`{column}` may hold no word at all; remove the line to allow every text"),
            });
        }
        if let Some(word) = self.words.iter().find(|word| !seen.insert(*word)) {
            return Some(format!("`{word}` is listed twice"));
        }
        let mut twins = lines.values().filter(|line| self.rust.is_some() && line.rust == self.rust);
        let rust = self.rust.as_deref().unwrap_or_default();
        if twins.any(|line| line != self) {
            return Some(format!(
                "two lines list other words for `{rust}`; list them once, and name it alone elsewhere"
            ));
        }
        let is_idle = self.other && !self.is_generated();
        is_idle.then(|| "only a generated enum has a variant for other words: name it without `::`".to_owned())
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordsVisitor)
    }
}

struct WordsVisitor;

impl<'de> Visitor<'de> for WordsVisitor {
    type Value = Words;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of words, the name of an enum, or `enum`, `words` and `other`")
    }

    fn visit_str<E: Error>(self, rust: &str) -> Result<Words, E> {
        Ok(Words { rust: Some(rust.to_owned()), ..Words::default() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Words, A::Error> {
        let words = Vec::deserialize(SeqAccessDeserializer::new(list))?;
        Ok(Words { words, ..Words::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Words, A::Error> {
        let Table { rust, words, other } = Table::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Words { words, rust, other })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::super::tests::fault;

    #[test]
    fn an_enum_is_listed_once_and_named_elsewhere() {
        let text = "[words]\n\"a.s\" = { enum = \"State\", words = [\"x\", \"y\"], other = true }\n\"*.s\" = \"State\"\n\
                    \"a.t\" = { enum = \"crate::Kind\", words = [\"k\"] }\n\"a.u\" = [\"v\"]\n";
        let config = Config::parse(text, "diglot.toml").unwrap();
        let of = |table: &str, column: &str| config.words_of(table, column).unwrap();
        assert_eq!(of("a", "s"), of("other", "s"));
        assert_eq!((of("b", "s").words.len(), of("b", "s").other, of("b", "s").is_generated()), (2, true, true));
        assert!(!of("a", "t").is_generated() && !of("a", "u").is_generated());
        assert_eq!(config.rust_type("a", "t"), Some("crate::Kind"));
        assert_eq!((config.rust_type("b", "s"), config.rust_type("a", "u")), (Some("State"), None));
        assert_eq!(config.words_of("b", "t"), None);
    }

    #[test]
    fn a_line_that_cannot_be_meant_is_told() {
        let of = |line: &str| fault(&format!("[words]\n\"a.s\" = {line}\n"));
        assert_eq!(of("\"State\""), "diglot.toml:2:1: no line lists the words of `State`");
        assert_eq!(of("[\"x\", \"x\"]"), "diglot.toml:2:1: `x` is listed twice");
        assert_eq!(of("{ enum = \"a b\", words = [\"x\"] }"), "diglot.toml:2:1: `a b` is not the name of a Rust enum");
        assert_eq!(
            of("{ enum = \"a::B\", words = [\"x\"], other = true }"),
            "diglot.toml:2:1: only a generated enum has a variant for other words: name it without `::`"
        );
        assert_eq!(
            of("{ enum = \"B\", words = [\"x\"] }\n\"a.t\" = { enum = \"B\", words = [\"y\"] }"),
            "diglot.toml:2:1: two lines list other words for `B`; list them once, and name it alone elsewhere"
        );
        assert!(of("3").contains("expected a list of words, the name of an enum, or `enum`, `words` and `other`"));
    }
}
