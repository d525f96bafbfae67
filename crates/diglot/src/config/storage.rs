//! `[storage]`: how columns of SQLite hold what Postgres has a type for.

use std::collections::BTreeMap;

use crate::types::{Form, Of};

/// The table `[storage]`: a word by `table.column`; a star in either name stands for any letters.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Storage(BTreeMap<String, String>);

impl Storage {
    /// The form of a column that stands for such a value; a line with a star speaks only of columns that it fits.
    pub fn form(&self, table: &str, column: &str, of: Of) -> Option<Form> {
        let speaks_of = |key: &str| {
            let names = key.split_once('.');
            names.is_some_and(|(owner, name)| super::matches(owner, table) && super::matches(name, column))
        };
        let fitting = |word: &String| Form::from_word(word).filter(|form| form.holds(of));
        let lines = self.0.iter().filter(|(key, _)| speaks_of(key));
        // A name that is written out says more than one with a star, and a longer one more than a shorter.
        let general = |key: &str| (key.matches('*').count(), usize::MAX - key.len());
        let lines = lines.filter_map(|(key, word)| Some((general(key), fitting(word)?)));
        lines.min_by_key(|(general, _)| *general).map(|(_, form)| form)
    }

    /// The first line that cannot be meant, with its key.
    pub(super) fn fault(&self) -> Option<(String, String)> {
        self.0.iter().find_map(|(key, word)| {
            if !key.contains('.') {
                return Some((key.clone(), format!("`{key}` names no column: write \"table.column\", in quotes")));
            }
            let known = Form::from_word(word).is_some();
            let of = [Of::Timestamp, Of::Date, Of::TimeOfDay, Of::Decimal, Of::Uuid].map(Form::words).join(", ");
            (!known).then(|| (key.clone(), format!("`{word}` is no way to hold a value; write one of: {of}")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    #[test]
    fn a_line_that_names_more_comes_first() {
        let text =
            "[storage]\n\"*.*\" = \"seconds\"\n\"*.*_ms\" = \"milliseconds\"\n\"stay.end_ms\" = \"microseconds\"\n";
        let storage = Config::parse(text, "diglot.toml").unwrap().storage;
        assert_eq!(storage.form("stay", "begin", Of::Timestamp), Some(Form::Seconds));
        assert_eq!(storage.form("stay", "begin_ms", Of::DateTime), Some(Form::Milliseconds));
        assert_eq!(storage.form("stay", "end_ms", Of::Timestamp), Some(Form::Microseconds));
        assert_eq!(storage.form("stay", "day", Of::Date), None);
    }

    #[test]
    fn a_word_that_is_none_is_told() {
        let fault = Config::parse("[storage]\n\"stay.begin\" = \"epoch\"\n", "diglot.toml").unwrap_err();
        assert!(fault.to_string().starts_with("diglot.toml:2:1: `epoch` is no way to hold a value"), "{fault}");
    }
}
