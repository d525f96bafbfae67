//! How long a migration waits for tables that others are in, and how it gives way to whoever waits behind it.

use std::time::Duration;

use sqlx::PgConnection;
use sqlx::error::DatabaseError;

const SET_PATIENCE: &str = include_str!("../../../schema/ledger/pg/patience_set.sql");

/// How long a statement waits for a table before it lets those pass who wait behind it.
pub(super) const MOMENT: &str = "200ms";

/// What a server says of a wait that was too long, and of two that waited for one another.
const GIVEN_UP: [&str; 2] = ["55P03", "40P01"];

/// How long it lets them, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Says how long the session waits for a lock, whatever its pool says: for another run as long as that takes, which
/// keeps nobody from anything, for a table a moment. The session is closed when the run ends.
pub(super) async fn set_patience(connection: &mut PgConnection, lock_timeout: &str) -> Result<(), sqlx::Error> {
    sqlx::query(SET_PATIENCE).bind(lock_timeout).execute(connection).await.map(drop)
}

/// The tries of something that gives way to others.
pub(super) struct Turns {
    pause: Duration,
}

impl Turns {
    pub(super) fn new() -> Self {
        Self { pause: FIRST_PAUSE }
    }

    /// Lets those pass who wait behind what was given up; an error that says anything else stays one.
    pub(super) async fn next(&mut self, error: sqlx::Error) -> Result<(), sqlx::Error> {
        let code = error.as_database_error().and_then(DatabaseError::code);
        if !code.is_some_and(|code| GIVEN_UP.contains(&&*code)) {
            return Err(error);
        }
        tracing::info!(%error, "a migration gives way to whoever waits behind it for a table that is in use");
        tokio::time::sleep(self.pause).await;
        self.pause = LONGEST_PAUSE.min(self.pause * 2);
        Ok(())
    }
}
