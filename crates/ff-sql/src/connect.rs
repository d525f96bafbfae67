//! Which database is meant, and how it is opened.

use std::error::Error;
use std::sync::Arc;

use ff_backend_sql::manage::{Manage, SchemaState};
use ff_backend_sql::{MigrationError, PostgresBackend, SessionsShared, SqliteBackend};
use ff_core::backend::BackendConfig;
use ff_core::engine_error::EngineError;

use crate::failure::{Failure, chain};

/// A database that is open.
pub(crate) struct Opened {
    pub(crate) kind: Kind,
    backend: Arc<dyn Manage>,
}

impl Opened {
    pub(crate) fn backend(&self) -> &dyn Manage {
        &*self.backend
    }
}

/// Which kind of database a text names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

pub(crate) fn no_database() -> Failure {
    Failure::new("no database is named")
        .with("give its file or URL by `--database`, or in the variable FF_SQL_DATABASE: flow.db, postgres://host/flow")
}

/// Reads what was given.
pub(crate) fn kind(target: &str) -> Result<Kind, Failure> {
    match target.split_once("://").map(|(scheme, _)| scheme) {
        Some("postgres" | "postgresql") => Ok(Kind::Postgres),
        None | Some("sqlite" | "file") => Ok(Kind::Sqlite),
        Some(scheme) => Err(Failure::new(format!("`{scheme}://` names no database that this program knows"))
            .with("write the name of an SQLite file, or a URL that begins with postgres://")),
    }
}

/// A text without the password that it may hold.
pub(crate) fn shown(target: &str) -> String {
    let Some((scheme, rest)) = target.split_once("://") else { return target.to_owned() };
    match rest.rsplit_once('@') {
        Some((user, place)) => {
            let user = user.split_once(':').map_or(user, |(user, _)| user);
            format!("{scheme}://{user}@{place}")
        }
        None => target.to_owned(),
    }
}

/// Opens it. Nothing is made, and nothing is changed.
pub(crate) async fn open(target: &str) -> Result<Opened, Failure> {
    open_as(target, false).await
}

/// The same, and brings the schema of an SQLite file up to date where `migrates`.
pub(crate) async fn open_as(target: &str, migrates: bool) -> Result<Opened, Failure> {
    let kind = kind(target)?;
    let backend: Arc<dyn Manage> = match kind {
        Kind::Sqlite => SqliteBackend::open_existing(target, migrates).await.map_err(|error| {
            Failure::new(chain(&error))
                .with("name a file that ff-backend-sql made; a program that opens one by `SqliteBackend::new` makes it")
        })?,
        Kind::Postgres => {
            let opened = PostgresBackend::connect(BackendConfig::postgres(target)).await;
            let opened = opened.map_err(|error| unreachable(target, &error))?;
            let backend = opened.as_any().downcast_ref::<PostgresBackend>().cloned();
            Arc::new(backend.ok_or_else(|| Failure::new("another backend was opened than was asked for"))?)
        }
    };
    Ok(Opened { kind, backend })
}

/// Why a server cannot be reached, and the way out.
fn unreachable(target: &str, error: &EngineError) -> Failure {
    let says = chain(error);
    let failure = Failure::new(format!("{} cannot be opened: {says}", shown(target)));
    let database = target.split_once("://").map_or("", |(_, rest)| rest).split_once('/').map_or("", |(_, name)| name);
    let database = database.split('?').next().unwrap_or_default();
    if is_shared(error) {
        Failure { is_shared: true, ..failure }
    } else if says.contains("does not exist") && says.contains("database") {
        failure.with(format!("make it first: `createdb {database}`, then `ff-sql migrate`"))
    } else if says.contains("password") || says.contains("role") || says.contains("authentication") {
        failure.with("the URL names a user and a password: postgres://user:password@host/database")
    } else {
        failure.with("is the server running, and are the host and the port in the URL those of it?")
    }
}

/// Whether a pooler stands between that hands sessions on.
pub(crate) fn is_shared(error: &EngineError) -> bool {
    let mut behind: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = behind {
        if error.is::<SessionsShared>() {
            return true;
        }
        behind = error.source();
    }
    false
}

/// Which versions of the schema there are.
pub(crate) async fn schema(opened: &Opened) -> Result<SchemaState, Failure> {
    let told = opened.backend().schema_state().await;
    told.map_err(|error: MigrationError| Failure::new(format!("the schema cannot be read: {}", chain(&error))))
}

/// Refuses a database whose schema is not what this program needs.
pub(crate) async fn needs_schema(opened: &Opened) -> Result<(), Failure> {
    let state = schema(opened).await?;
    let first = state.missing.first();
    match first {
        None => Ok(()),
        Some(_) if state.applied == 0 => Err(Failure::new("the database has no tables of FlowFabric")
            .with("`ff-sql migrate` makes them, if it is the right database")),
        Some(first) => Err(Failure::new(format!(
            "the schema is older than this program: it lacks {} of its versions, the first is {first}",
            state.missing.len()
        ))
        .with("`ff-sql migrate` brings it up to date; programs that use it may go on meanwhile")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_a_file_or_a_server() {
        for file in ["flow.db", "/var/flow.db", "sqlite://flow.db", "file:flow.db", "file:///var/flow.db"] {
            assert_eq!(kind(file).unwrap(), Kind::Sqlite, "{file}");
        }
        assert_eq!(kind("postgresql://host/flow").unwrap(), Kind::Postgres);
        assert!(kind("mysql://host/flow").unwrap_err().to_string().contains("mysql"));
    }

    #[test]
    fn a_password_is_not_shown() {
        assert_eq!(shown("postgres://me:s@cret@host:5432/flow?a=b"), "postgres://me@host:5432/flow?a=b");
        assert_eq!(shown("postgres://host/flow"), "postgres://host/flow");
        assert_eq!(shown("flow.db"), "flow.db");
    }
}
