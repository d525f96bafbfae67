//! Trying again when SQLite is busy, for callers that run their own statements.
//!
//! The backend's operations do this themselves.

use std::future::Future;

use ff_core::EngineError;

use crate::db::{Dialect as _, Sqlite, tx};

/// How often something is tried in all.
pub const MAX_ATTEMPTS: u32 = tx::MAX_ATTEMPTS;

/// Whether SQLite said "busy" or "locked", with any extended code.
#[must_use]
pub fn is_retryable_sqlite_busy(error: &sqlx::Error) -> bool {
    Sqlite::is_transient(error)
}

/// An error that can tell whether SQLite was busy.
pub trait IsRetryableBusy {
    /// Whether trying again may help.
    fn is_retryable_busy(&self) -> bool;
}

impl IsRetryableBusy for sqlx::Error {
    fn is_retryable_busy(&self) -> bool {
        is_retryable_sqlite_busy(self)
    }
}

impl IsRetryableBusy for EngineError {
    fn is_retryable_busy(&self) -> bool {
        match self {
            Self::Transport { source, .. } => source.downcast_ref().is_some_and(is_retryable_sqlite_busy),
            _ => false,
        }
    }
}

/// Runs `f` up to [`MAX_ATTEMPTS`] times while it fails because SQLite is busy, with pauses of 5 and 10 ms.
///
/// # Errors
/// The first error that is of another kind, or the last one.
pub async fn retry_serializable<T, E, F, R>(mut f: F) -> Result<T, E>
where
    E: IsRetryableBusy,
    F: FnMut() -> R,
    R: Future<Output = Result<T, E>>,
{
    let mut attempt = 1;
    loop {
        match f().await {
            Err(error) if error.is_retryable_busy() && attempt < MAX_ATTEMPTS => {
                tokio::time::sleep(tx::pause_after(attempt)).await;
                attempt += 1;
            }
            ended => return ended,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Busy(bool);

    impl IsRetryableBusy for Busy {
        fn is_retryable_busy(&self) -> bool {
            self.0
        }
    }

    #[tokio::test]
    async fn a_busy_database_is_tried_three_times() {
        let mut tries = 0;
        let ended: Result<(), Busy> = retry_serializable(|| {
            tries += 1;
            std::future::ready(Err(Busy(true)))
        })
        .await;
        assert!(ended.is_err());
        assert_eq!(tries, MAX_ATTEMPTS);
    }

    #[tokio::test]
    async fn any_other_error_ends_it_at_once() {
        let mut tries = 0;
        let ended: Result<(), Busy> = retry_serializable(|| {
            tries += 1;
            std::future::ready(Err(Busy(false)))
        })
        .await;
        assert!(ended.is_err());
        assert_eq!(tries, 1);
    }
}
