//! How the engines are asked.

use std::collections::BTreeMap;

/// The table `[prepare]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Prepare {
    /// Settings of the Postgres session in which the migrations run and the statements are described, by name.
    pub pg_settings: BTreeMap<String, String>,
}

impl Prepare {
    /// The schemas of Postgres in which sessions look for names without one.
    pub(crate) fn search_path(&self) -> Vec<String> {
        let path = self.pg_settings.get("search_path").map_or("", String::as_str);
        path.split(',').map(|name| name.trim().trim_matches('"').to_lowercase()).collect()
    }
}
