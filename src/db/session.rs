//! What a session on a server is set to, and when it is given up.
//!
//! A client may be cut off at any moment: the host loses its power or its network, the process is stopped. Its
//! session then keeps the rows that it locked until the server ends it, and everybody who needs one of them waits. So
//! every session of ours lets the server bound that time:
//!
//! | Setting | | Why |
//! |---|---|---|
//! | `lock_timeout` | 5 s | Nobody waits for a row for ever. What waited is tried three times in all, which is longer than the next limit, so whoever waits for a dead client's row gets it. |
//! | `idle_in_transaction_session_timeout` | 10 s | No operation pauses inside its transaction, so a session that does has lost its client. |
//! | `tcp_keepalives_idle`, `_interval`, `_count` | 30 s, 10 s, 3 | The server notices within a minute that nobody is there, also outside a transaction. |
//! | `tcp_user_timeout` | 60 s | The same while the server has something to send, where its platform can. |
//! | `client_connection_check_interval` | 2 s | The same while a statement runs or waits, where the server's platform can. |
//! | `default_transaction_isolation` | `read committed` | A fence waits for a row and then judges the row as it has become. |
//!
//! A URL that sets one of the time limits itself (`?options[lock_timeout]=1s`) is left its value. Whether the
//! database takes writes is the operator's: `default_transaction_read_only` stays as it is.

use std::str::FromStr as _;
use std::time::Duration;

use ff_core::backend::PostgresConnection;
use sqlx::error::DatabaseError;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgDatabaseError, PgPool, PgPoolOptions, PgSeverity};
use sqlx::{ConnectOptions as _, Connection as _};

use super::dialect::Plans;
use crate::statements::pg_only;
use crate::statements::server::{ServerPlanParams, ServerWatchClientParams};

/// How many prepared statements a connection keeps: more than there are.
const STATEMENT_CACHE: usize = 512;

/// How long a connection may have been out of use before it is asked for a sign of life.
pub(super) const TRUSTED_IDLE: Duration = Duration::from_secs(1);

/// The setting that keeps the notify triggers quiet on a connection, and its value.
const WAKEUPS: (&str, &str) = ("ff_sql.wakeups", "after_commit");

/// The setting that says when statements are planned, and its values: see [`Plans`].
const PLAN_CACHE_MODE: &str = "plan_cache_mode";
const EACH_TIME: &str = "force_custom_plan";
const ONCE: &str = "force_generic_plan";

/// What every connection is set to, whatever the URL, the role or the database says. The planner's settings are for
/// point statements: see [`pg`](super::pg).
const PINNED: [(&str, &str); 6] = [
    WAKEUPS,
    ("default_transaction_isolation", "read committed"),
    (PLAN_CACHE_MODE, EACH_TIME),
    ("constraint_exclusion", "off"),
    ("enable_bitmapscan", "off"),
    ("jit", "off"),
];

/// The time limits, which a URL may set otherwise.
const LIMITS: [(&str, &str); 6] = [
    ("lock_timeout", "5s"),
    ("idle_in_transaction_session_timeout", "10s"),
    ("tcp_keepalives_idle", "30s"),
    ("tcp_keepalives_interval", "10s"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "60s"),
];

/// The setting of a URL that has every operation run alone, and how it says so.
const COMBINING: &str = "ff_sql.combining=off";

/// How often the server looks whether the client of a statement is still there. Set once the connection is open,
/// because a server whose platform cannot look refuses the setting.
const WATCH: (&str, &str) = ("client_connection_check_interval", "2s");

/// Opens a pool whose connections leave wake-ups to this process and hold nothing for a client that is gone.
///
/// # Errors
/// The driver's error when the URL cannot be read or the server cannot be reached.
pub(crate) async fn open_pool(config: &PostgresConnection) -> Result<PgPool, sqlx::Error> {
    let options = PgConnectOptions::from_str(&config.url)?.statement_cache_capacity(STATEMENT_CACHE);
    let given = options.get_options().map(str::to_owned);
    let is_open = |name: &str| given.as_deref().is_none_or(|given| !sets(given, name));
    let is_watched = is_open(WATCH.0);
    let limits = LIMITS.into_iter().filter(|(name, _)| is_open(name));
    let options = options.options(limits).options(PINNED).disable_statement_logging();
    PgPoolOptions::new()
        .max_connections(config.max_connections)
        .min_connections(config.min_connections)
        .acquire_timeout(config.acquire_timeout)
        .test_before_acquire(false)
        .after_connect(move |connection, _| {
            Box::pin(async move { if is_watched { watch_client(connection).await } else { Ok(()) } })
        })
        .before_acquire(|connection, about| {
            Box::pin(async move {
                if about.idle_for > TRUSTED_IDLE && connection.ping().await.is_err() {
                    return Ok(false);
                }
                Ok(true)
            })
        })
        // Nobody who takes it from the pool has to ask how it plans.
        .after_release(|connection, _| {
            Box::pin(async move { plan(connection, Plans::EachTime, false).await.map(|()| true) })
        })
        .connect_with(options)
        .await
}

/// Whether a pool was opened by [`open_pool`].
pub(super) fn is_ours(pool: &PgPool) -> bool {
    let options = pool.connect_options();
    options.get_options().is_some_and(|given| given.contains(&format!("{PLAN_CACHE_MODE}={EACH_TIME}")))
}

/// Says when the statements of a session are planned, or those of its transaction alone.
pub(super) async fn plan(
    connection: &mut PgConnection,
    plans: Plans,
    for_transaction: bool,
) -> Result<(), sqlx::Error> {
    let mode = match plans {
        Plans::EachTime => EACH_TIME,
        Plans::Once => ONCE,
    };
    pg_only::server_plan(connection, &ServerPlanParams { mode: mode.to_owned(), for_transaction }).await
}

/// Whether startup options name a setting.
fn sets(options: &str, name: &str) -> bool {
    options.split([' ', '=', '\\']).any(|word| word.trim_start_matches("-c").trim_start_matches("--") == name)
}

/// Whether operations that wait at the same moment go together: unless the pool's connections are set to
/// `ff_sql.combining=off`.
pub(super) fn combines(pool: &PgPool) -> bool {
    let options = pool.connect_options();
    options.get_options().is_none_or(|given| !given.contains(COMBINING))
}

/// Has the server look whether the client is still there. One that cannot is used without.
async fn watch_client(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let params = ServerWatchClientParams { interval: WATCH.1.to_owned() };
    match pg_only::server_watch_client(connection, &params).await {
        Err(sqlx::Error::Database(refused)) => {
            tracing::debug!(%refused, "the server does not notice clients that go away while it works for them");
            Ok(())
        }
        ended => ended,
    }
}

/// Whether a connection is of no use after an error: whatever is no answer of the server leaves open what is under way
/// on it.
pub(super) fn is_spoilt(error: &sqlx::Error) -> bool {
    error.as_database_error().is_none() || is_gone(error)
}

/// Whether the session is gone or going, or its server has become one that takes no writes, as after a failover.
pub(super) fn is_gone(error: &sqlx::Error) -> bool {
    match error.as_database_error() {
        Some(database) => database.code().as_deref() == Some("25006") || ends_session(database),
        None => matches!(error, sqlx::Error::Io(_)),
    }
}

/// Whether an error is the server's answer that a statement outside a transaction, or the transaction as far as it
/// was given, is not done. A crash is no such answer.
pub(super) fn is_refused(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(DatabaseError::code).is_some_and(|code| code != "57P02")
}

/// Whether an error that answers a commit says that nothing was committed: the server had ended the session before,
/// because it was idle or its transaction took too long, or refused the commit and lives.
pub(super) fn is_uncommitted(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|database| {
        let code = database.code();
        matches!(code.as_deref(), Some("25P03" | "25P04" | "57P05")) || !ends_session(database)
    })
}

/// FATAL and PANIC are the last that a session says; the codes are those of lost connections, for a server that
/// says no severity.
fn ends_session(database: &dyn DatabaseError) -> bool {
    let severity = database.try_downcast_ref::<PgDatabaseError>().map(PgDatabaseError::severity);
    let code = database.code();
    let code = code.as_deref();
    matches!(severity, Some(PgSeverity::Fatal | PgSeverity::Panic))
        || code.is_some_and(|code| code.starts_with("08") || code.starts_with("57P0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_url_sets_is_found_in_its_options() {
        for given in ["-c lock_timeout=1s", "-clock_timeout=1s", "-c geqo=off -c lock_timeout=0", "--lock_timeout=5"] {
            assert!(sets(given, "lock_timeout"), "{given}");
        }
        for given in ["", "-c geqo=off", "-c deadlock_timeout=1s", "-c lock_timeouts=1s"] {
            assert!(!sets(given, "lock_timeout"), "{given}");
        }
    }

    #[test]
    fn an_error_without_a_server_behind_it_loses_the_connection_and_says_nothing_of_the_statement() {
        let lost = sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into());
        assert!(is_gone(&lost) && is_spoilt(&lost) && !is_refused(&lost) && !is_uncommitted(&lost));
    }
}
