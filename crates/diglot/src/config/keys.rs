//! `[keys]`: columns that are one value together, and the struct that stands for them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::Config;
use crate::names::is_field_name;

/// A struct of the project's own that stands for several columns.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The path of the struct.
    #[serde(rename = "struct")]
    pub rust: String,
    /// Its fields, which parameters and columns of results are called by, each with the columns whose values it holds, by
    /// `table.column` or `*.column`. The first of them says of which type it is.
    pub fields: BTreeMap<String, Columns>,
}

/// One column, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Columns {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Columns {
    /// The columns as they are written.
    pub fn each(&self) -> &[String] {
        match self {
            Self::One(column) => std::slice::from_ref(column),
            Self::Many(columns) => columns,
        }
    }

    /// Whether that column is one of them.
    pub fn has(&self, table: &str, column: &str) -> bool {
        let is_it = |said: &String| {
            let of = said.split_once('.');
            of.is_some_and(|(owner, name)| (owner == "*" || owner == table) && name == column)
        };
        self.each().iter().any(is_it)
    }
}

impl Config {
    /// The keys by their names, that with the most fields first: whoever has all of its fields has those of a shorter one
    /// too.
    pub(crate) fn longest_keys_first(&self) -> Vec<(&str, &Key)> {
        let mut keys: Vec<(&str, &Key)> = self.keys.iter().map(|(name, key)| (name.as_str(), key)).collect();
        keys.sort_by_key(|(_, key)| usize::MAX - key.fields.len());
        keys
    }
}

/// The first key that cannot be meant, with its place.
pub(super) fn fault(config: &Config) -> Option<(String, String)> {
    let mut known = BTreeSet::new();
    config.keys.iter().find_map(|(name, key)| {
        let message = if known.insert(key.fields.keys().collect::<Vec<_>>()) {
            key.fault(name)?
        } else {
            format!("`{name}` has the same fields as another key")
        };
        Some((format!("keys.{name}"), message))
    })
}

impl Key {
    fn fault(&self, name: &str) -> Option<String> {
        let path = syn::parse_str::<syn::Path>(&self.rust).ok();
        let is_path = path.is_some_and(|path| path.segments.iter().all(|segment| segment.arguments.is_none()));
        let begins_here = ["self::", "super::"].iter().any(|start| self.rust.starts_with(start));
        if !is_path || begins_here || !self.rust.contains("::") {
            let path = &self.rust;
            return Some(format!("`{path}` is not the path of a struct: write it from the crate, `crate::JobKey`"));
        }
        let is_bad = |name: &&str| !is_field_name(name) || name.chars().any(char::is_uppercase);
        if let Some(bad) = std::iter::once(name).chain(self.fields.keys().map(String::as_str)).find(is_bad) {
            return Some(format!("`{bad}` is no name of a field: write it in snake case"));
        }
        if self.fields.len() < 2 {
            let way_out = "the type of one column stands below `[types]`";
            return Some(format!("`{name}` needs two fields or more, `fields.id = \"job.id\"`; {way_out}"));
        }
        let columns =
            || self.fields.iter().flat_map(|(field, columns)| columns.each().iter().map(move |of| (field, of)));
        if let Some((field, _)) = self.fields.iter().find(|(_, columns)| columns.each().is_empty()) {
            return Some(format!("`{field}` stands for no column: write `fields.{field} = \"table.column\"`"));
        }
        columns().find(|(_, column)| !super::is_column(column)).map(|(_, column)| super::bad_column(column))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::fault;
    use super::*;

    #[test]
    fn a_field_holds_the_values_of_its_columns() {
        let text = "[keys.job]\nstruct = \"crate::JobKey\"\nfields.part = \"*.part\"\nfields.id = [\"job.id\", \"event.job_id\"]\n";
        let key = &Config::parse(text, "diglot.toml").unwrap().keys["job"];
        assert_eq!(key.rust, "crate::JobKey");
        let id = &key.fields["id"];
        assert!(id.has("job", "id") && id.has("event", "job_id") && !id.has("event", "id"));
        assert!(key.fields["part"].has("anything", "part"));
    }

    #[test]
    fn what_cannot_be_meant_is_told_at_the_key() {
        let key =
            |rust: &str, fields: &str| format!("shard_key = \"part\"\n\n[keys.job]\nstruct = \"{rust}\"\n{fields}\n");
        let two = "fields.part = \"*.part\"\nfields.id = \"job.id\"";
        assert!(Config::parse(&key("crate::JobKey", two), "diglot.toml").is_ok());
        for (rust, fields, expected) in [
            ("JobKey", two, "`JobKey` is not the path of a struct"),
            ("super::JobKey", two, "is not the path of a struct"),
            ("crate::JobKey<u8>", two, "is not the path of a struct"),
            ("crate::JobKey", "fields.id = \"job.id\"", "needs two fields or more"),
            ("crate::JobKey", "fields.part = []\nfields.id = \"job.id\"", "`part` stands for no column"),
            ("crate::JobKey", "fields.part = \"part\"\nfields.id = \"job.id\"", "`part` names no column"),
            ("crate::JobKey", "fields.Part = \"job.part\"\nfields.id = \"job.id\"", "`Part` is no name of a field"),
        ] {
            let told = fault(&key(rust, fields));
            assert!(told.starts_with("diglot.toml:3:1: ") && told.contains(expected), "{told}");
        }
        let inline = "[keys]\njob = { struct = \"crate::JobKey\", fields = { id = \"job.id\" } }\n";
        assert!(fault(inline).starts_with("diglot.toml:2:1: `job` needs two fields or more"), "{}", fault(inline));
        let twice = key("crate::JobKey", two)
            + &key("crate::OtherKey", two).replace("shard_key = \"part\"", "").replace("keys.job", "keys.other");
        assert!(fault(&twice).contains("`other` has the same fields as another key"), "{}", fault(&twice));
    }
}
