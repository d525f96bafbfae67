//! Why migrations do not run.

/// What went wrong. Whatever ran before stays, and the next run goes on from there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database cannot be reached or asked.
    #[error("cannot ask the database: {0}")]
    Database(#[from] sqlx::Error),
    /// The URL names neither database.
    #[error("the URL begins with neither `sqlite:` nor `postgres:`")]
    Url,
    /// A migration has no version.
    #[error("no whole number stands at the front of `{name}`")]
    Name {
        /// Its name.
        name: String,
    },
    /// A database refuses a migration.
    #[error("migration {name} is refused: {source}")]
    Refused {
        /// Its name.
        name: String,
        /// The engine's words.
        source: sqlx::Error,
    },
    /// Somebody holds what a migration needs.
    #[error("migration {name} found what it needs in use {attempts} times: {source}")]
    InUse {
        /// Its name.
        name: String,
        /// How often it tried.
        attempts: u32,
        /// The engine's words.
        source: sqlx::Error,
    },
    /// A migration that has run reads otherwise now.
    #[error("migration {name} has run and reads otherwise now; write what changes into a new one")]
    Changed {
        /// Its name.
        name: String,
    },
    /// Another tool left a migration half done.
    #[error("{ledger} left version {version} half done; repair it as that tool says")]
    Dirty {
        /// The tool.
        ledger: &'static str,
        /// The version.
        version: i64,
    },
}
