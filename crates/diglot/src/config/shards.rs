//! `distributed` and `[placement]`: which engine spreads the Postgres tables over several nodes, and how.

use super::Config;
use super::generate::Driver;

/// An engine that spreads the tables of a Postgres over several nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Distributed {
    /// Citus, an extension of Postgres.
    Citus,
}

/// Where the rows of a table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// Each row on one node, by its shard key, together with the rows of other tables that have the same one.
    Distributed,
    /// Every row on every node.
    Reference,
    /// Every row on the node that takes the statements.
    Local,
}

/// The first of both keys that cannot be meant.
pub(super) fn fault(config: &Config) -> Option<(String, String)> {
    if config.distributed.is_some() && config.shard_key.is_empty() {
        let message = "`distributed` needs `shard_key`, the column by which tables are spread";
        return Some(("distributed".to_owned(), message.to_owned()));
    }
    if config.distributed.is_some() && config.generate.driver == Driver::Pair {
        let message = "`distributed` needs the driver sqlx, by which alone statements are made that take steps";
        return Some(("distributed".to_owned(), message.to_owned()));
    }
    let table = config.placement.keys().next().filter(|_| config.distributed.is_none())?;
    Some((table.clone(), "`[placement]` says nothing without `distributed = \"citus\"`".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_needs_the_key_and_a_placement_the_engine() {
        let fault = |text| Config::parse(text, "diglot.toml").unwrap_err().to_string();
        assert_eq!(
            fault("distributed = \"citus\""),
            "diglot.toml:1:1: `distributed` needs `shard_key`, the column by which tables are spread"
        );
        assert_eq!(
            fault("shard_key = \"k\"\ndistributed = \"citus\"\n[generate]\ndriver = \"rusqlite+tokio-postgres\""),
            "diglot.toml:2:1: `distributed` needs the driver sqlx, by which alone statements are made that take steps"
        );
        assert_eq!(
            fault("[placement]\njob = \"local\""),
            "diglot.toml:2:1: `[placement]` says nothing without `distributed = \"citus\"`"
        );
        assert!(fault("shard_key = \"k\"\ndistributed = \"other\"").contains("expected `citus`"));
    }

    #[test]
    fn the_key_decides_where_no_line_does() {
        let text = "shard_key = \"part\"\ndistributed = \"citus\"\n[placement]\nlane = \"reference\"\n";
        let config = Config::parse(text, "diglot.toml").unwrap();
        let of = |table, has_key| config.placement_of(table, has_key);
        assert_eq!(of("job", true), Some(Placement::Distributed));
        assert_eq!(of("note", false), Some(Placement::Local));
        assert_eq!(of("lane", true), Some(Placement::Reference));
        assert_eq!(Config::default().placement_of("job", true), None);
    }
}
