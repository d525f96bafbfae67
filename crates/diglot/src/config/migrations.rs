//! `[migrations]`: which steps are held against what they do to a running system, and what the migrator sees to.

/// The table `[migrations]`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Migrations {
    /// The first step that is held against what it does to a running system, by its name or its number; without it all
    /// are.
    pub checked_from: Option<String>,
    /// The newest step that a release has: nobody has rows in a table that a later one makes.
    pub released: Option<String>,
    /// Whether the migrator limits how long a step waits for a lock of Postgres, and tries again.
    pub lock_timeout: bool,
    /// Whether foreign keys of SQLite are on while a step runs.
    pub foreign_keys: bool,
}

impl Default for Migrations {
    fn default() -> Self {
        Self { checked_from: None, released: None, lock_timeout: false, foreign_keys: true }
    }
}
