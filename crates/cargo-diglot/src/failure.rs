//! Why the tool itself failed: everything that is not a finding in the user's SQL.

use std::io;
use std::path::PathBuf;

use crate::postgres::StartError;

/// A failure of the tool; its text goes to the user as it is.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The throwaway server did not start.
    #[error(transparent)]
    Postgres(#[from] StartError),
    /// A signal asked to stop; everything is cleaned up.
    #[error("interrupted")]
    Interrupted {
        /// The signal's number.
        signal: u8,
    },
    /// The system refused something.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// The system's words.
        source: io::Error,
    },
    /// The project's files could not be read.
    #[error(transparent)]
    Load(#[from] diglot::build::LoadError),
    /// An engine could not be asked.
    #[error("cannot {what}: {source}")]
    Engine {
        /// What was tried.
        what: String,
        /// The driver's words.
        source: sqlx::Error,
    },
    /// The SQLite that is called directly could not be asked.
    #[error("cannot {what}: {source}")]
    Sqlite {
        /// What was tried.
        what: String,
        /// The library's words.
        source: rusqlite::Error,
    },
    /// An engine refused what a case rests on.
    #[error(transparent)]
    Trouble(#[from] diglot_tools::prove::Trouble),
    /// A table could not be read after a case.
    #[error("cannot {what}: {message}")]
    Table {
        /// What was tried.
        what: String,
        /// The engine's words.
        message: String,
    },
    /// A migration does not run.
    #[error("{path} does not run: {message}\nrun `cargo diglot prepare`, which shows the place")]
    Migration {
        /// The file.
        path: String,
        /// The engine's words.
        message: String,
    },
    /// A kept case cannot be read.
    #[error("{path} is no case: {message}")]
    KeptCase {
        /// The file.
        path: String,
        /// What is wrong.
        message: String,
    },
    /// `prove` was asked for a statement that is no pair.
    #[error("there is no pair `{name}`")]
    UnknownStatement {
        /// What was asked for.
        name: String,
    },
    /// The URL of a server makes no sense. It may hold a password, so it is not repeated.
    #[error("the URL of the Postgres server is not one: {source}")]
    PostgresUrl {
        /// The driver's words.
        source: sqlx::Error,
    },
    /// There is nothing to compile there.
    #[error("{} holds no project: neither `diglot.toml` nor a folder `sql`\nname the project's folder with --root", root.display())]
    NoProject {
        /// Where it was looked for.
        root: PathBuf,
    },
    /// The project's migrations do not run.
    #[error(transparent)]
    Migrate(#[from] diglot_migrate::Error),
    /// There is nothing to write.
    #[error(transparent)]
    Draft(#[from] diglot_tools::draft::DraftError),
    /// There is no step to draft.
    #[error("{what}")]
    Step {
        /// What is in the way, and the way out.
        what: String,
    },
    /// There is nothing that could be compared.
    #[error("{why}")]
    NothingToTry {
        /// Where it was looked, and what is needed.
        why: String,
    },
    /// Git could not give an earlier revision.
    #[error("{what}")]
    Git {
        /// What went wrong, with git's words.
        what: String,
    },
    /// The editor does not speak the protocol.
    #[error("the editor's first message makes no sense: {source}")]
    Editor {
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Cargo does not know such a package, or no workspace.
    #[error("{what}")]
    Workspace {
        /// What is wrong, or Cargo's words.
        what: String,
    },
    /// `explain` was asked for a rule that does not exist.
    #[error("there is no rule `{name}`{}", suggestion.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
    UnknownRule {
        /// What was asked for.
        name: String,
        /// The rule that looks most like it.
        suggestion: Option<&'static str>,
    },
}

impl Failure {
    /// For `map_err`: what was tried when the system refused.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    /// For `map_err`: what was tried when an engine refused.
    pub(crate) fn engine(what: impl Into<String>) -> impl FnOnce(sqlx::Error) -> Self {
        let what = what.into();
        move |source| Self::Engine { what, source }
    }

    /// For `map_err`: what was tried when SQLite refused.
    pub(crate) fn sqlite(what: impl Into<String>) -> impl FnOnce(rusqlite::Error) -> Self {
        let what = what.into();
        move |source| Self::Sqlite { what, source }
    }

    /// The exit code: 1, or what a shell reports for a process that ended by that signal.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Interrupted { signal } => 128 + signal,
            _ => 1,
        }
    }
}
