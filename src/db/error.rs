//! From the driver's errors to the engine's.
//!
//! Operations say what went wrong in the engine's own words; this module is for what the database says.
//! The driver's error always stays inside, so that callers and logs see the cause.

use ff_core::EngineError;
#[cfg(feature = "sqlite")]
use ff_core::engine_error::{BackendError, BackendErrorKind};
use sqlx::error::{DatabaseError, ErrorKind};

pub(crate) use super::abort::Abort;
use super::dialect::Dialect;
#[cfg(feature = "postgres")]
use super::dialect::Postgres;
use crate::model::id::corruption;

impl Abort {
    /// The answer for the caller; `Validation(Corruption)` when a stored value is not what its column holds.
    pub(crate) fn into_engine<D: Dialect>(self) -> EngineError {
        match self {
            Self::Driver(sqlx::Error::ColumnDecode { index, source }) => corruption(format!("{index}: {source}")),
            Self::Driver(error) if D::is_damage(&error) => corruption(format!("a stored document: {error}")),
            Self::Driver(error) => transport::<D>(error),
            Self::Engine(error) => error,
        }
    }
}

/// A driver's error as the engine reports it: `Transport`, with the `sqlx::Error` itself as the source.
pub(crate) fn transport<D: Dialect>(error: sqlx::Error) -> EngineError {
    EngineError::Transport { backend: D::LABEL, source: Box::new(error) }
}

/// A driver's error of a read whose document may be damaged: `Validation(Corruption)` that names the place when
/// it is, else the error itself.
pub(crate) fn unreadable(place: &str, error: sqlx::Error) -> Abort {
    match error {
        sqlx::Error::ColumnDecode { source, .. } => Abort::Engine(corruption(format!("{place}: {source}"))),
        other => Abort::Driver(other),
    }
}

/// The error of a constructor of the embedded backend, which speaks of any backend under this name.
#[cfg(feature = "sqlite")]
pub(crate) fn open_failed(kind: BackendErrorKind, message: String) -> BackendError {
    BackendError::Valkey { kind, message }
}

/// The driver's error from a Postgres database.
#[cfg(feature = "postgres")]
#[derive(Debug, thiserror::Error)]
#[error("postgres transport: {0}")]
pub struct PostgresTransportError(#[from] pub sqlx::Error);

/// A server whose certificate the driver does not take, with what to write in the URL.
///
/// The driver reads a certificate wherever the connection is encrypted, also with `sslmode=require`, which trusts any
/// that it can read. It reads version 3 alone, and some programs make one of version 1 for themselves.
#[cfg(feature = "postgres")]
#[derive(Debug, thiserror::Error)]
#[error(
    "the server's certificate is refused: {0}\n\
     where it cannot be read (UnsupportedCertVersion), give the server one of version 3, such as `openssl req -x509` makes, \
     and write `sslmode=require` in the URL, or write `sslmode=disable` where nobody else can listen; where nobody vouches \
     for it (UnknownIssuer), `sslmode=verify-full&sslrootcert=FILE` with the certificate of who signed it"
)]
pub struct CertificateRefused(#[source] pub sqlx::Error);

/// A pooler that hands a session of the server to somebody else after each transaction.
///
/// What a session is set to (its time limits, how it plans), what it has prepared and what it listens to would be found by
/// whoever comes next, and missed by whoever was there.
#[cfg(feature = "postgres")]
#[derive(Debug, thiserror::Error)]
#[error(
    "between this program and its server is a pooler that hands sessions on after each transaction \
     (PgBouncer: `pool_mode = transaction` or `statement`), where prepared statements, time limits and notifications \
     get lost; let it keep a session for as long as a connection lasts (`pool_mode = session`), or connect to the \
     server itself: the backend has a pool of its own"
)]
pub struct SessionsShared;

/// The error of a server that cannot be reached, as [`map_sqlx_error`] has it; a refused certificate comes with the way
/// out.
#[cfg(feature = "postgres")]
pub(crate) fn unreachable_server(error: sqlx::Error) -> EngineError {
    let is_certificate = match &error {
        sqlx::Error::Io(error) => error.to_string().contains("certificate"),
        sqlx::Error::Tls(_) => true,
        sqlx::Error::Configuration(reason) if reason.is::<SessionsShared>() => {
            return EngineError::Transport { backend: Postgres::LABEL, source: Box::new(SessionsShared) };
        }
        _ => false,
    };
    match is_certificate {
        true => EngineError::Transport { backend: Postgres::LABEL, source: Box::new(CertificateRefused(error)) },
        false => map_sqlx_error(error),
    }
}

/// Turns the error of a Postgres database into the engine's.
///
/// | SQLSTATE | Engine error |
/// |---|---|
/// | 23505, unique violation | `Conflict(RotationConflict)` with the server's message |
/// | 40001, 40P01 | `Contention(LeaseConflict)` |
/// | anything else | `Transport` with the `sqlx::Error` as its source |
///
/// This table is for callers that run their own statements through the pool. The backend's operations
/// judge a driver's error themselves: they retry what is transient and report a unique violation as
/// what it means there.
#[cfg(feature = "postgres")]
#[must_use]
pub fn map_sqlx_error(error: sqlx::Error) -> EngineError {
    use ff_core::engine_error::{ConflictKind, ContentionKind};

    let database = error.as_database_error();
    let code = database.and_then(|database| database.code());
    match (code.as_deref(), database) {
        (Some("23505"), Some(database)) => {
            EngineError::Conflict(ConflictKind::RotationConflict(database.message().to_owned()))
        }
        (Some("40001" | "40P01"), _) => EngineError::Contention(ContentionKind::LeaseConflict),
        _ => transport::<Postgres>(error),
    }
}

/// A failure that several operations share. A driver's error cannot be cloned; what is judged later,
/// the code and the text, can.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct Shared {
    message: String,
    code: Option<String>,
}

impl DatabaseError for Shared {
    fn message(&self) -> &str {
        &self.message
    }

    fn code(&self) -> Option<std::borrow::Cow<'_, str>> {
        self.code.as_deref().map(Into::into)
    }

    fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

/// Makes an error that is judged and reads like the given one.
pub(super) fn shared(error: &sqlx::Error) -> sqlx::Error {
    match error.as_database_error() {
        Some(database) => {
            let code = database.code().map(|code| code.into_owned());
            sqlx::Error::database(Shared { message: database.message().to_owned(), code })
        }
        None => sqlx::Error::Protocol(error.to_string()),
    }
}

/// A database error with a code.
#[cfg(all(test, feature = "sqlite"))]
pub(crate) fn coded(code: &str) -> sqlx::Error {
    sqlx::Error::database(Shared { message: "busy".into(), code: Some(code.into()) })
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_refused_certificate_says_what_to_write() {
        let refused = "invalid peer certificate: Other(OtherError(UnsupportedCertVersion))";
        let told = unreachable_server(sqlx::Error::Io(io::Error::new(io::ErrorKind::InvalidData, refused)));
        let EngineError::Transport { source, .. } = told else { panic!("{told:?}") };
        let text = source.to_string();
        assert!(text.contains("UnsupportedCertVersion") && text.contains("sslmode=disable"), "{text}");
        let gone = unreachable_server(sqlx::Error::Io(io::ErrorKind::ConnectionRefused.into()));
        let EngineError::Transport { source, .. } = gone else { panic!("{gone:?}") };
        assert!(source.downcast_ref::<sqlx::Error>().is_some(), "{source}");
    }
}
