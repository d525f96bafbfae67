//! Why an operation gives up, before anybody translates it.

use ff_core::EngineError;

/// Why an operation inside a transaction gives up; the transaction rolls back.
///
/// The door retries a driver's error when the dialect calls it transient. It never retries an engine's
/// error: a broken fence is an answer.
#[derive(Debug)]
pub enum Abort {
    /// The driver failed.
    Driver(sqlx::Error),
    /// The operation decided against it.
    Engine(EngineError),
}

impl From<sqlx::Error> for Abort {
    fn from(error: sqlx::Error) -> Self {
        Self::Driver(error)
    }
}

impl From<EngineError> for Abort {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}
