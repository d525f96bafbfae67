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
//! A pooler may keep what a connection asks for from the server (PgBouncer's `ignore_startup_parameters = options`); then the
//! connection sets it once it is open. One that hands sessions on after each transaction is refused: what is set there holds for
//! whoever comes next, and what is prepared is not found again.
//!
//! A URL that sets one of the time limits itself (`?options[lock_timeout]=1s`) is left its value. Whether the
//! database takes writes is the operator's: `default_transaction_read_only` stays as it is.

use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::PostgresConnection;
use sqlx::error::DatabaseError;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgDatabaseError, PgPool, PgPoolOptions, PgSeverity};
use sqlx::{ConnectOptions as _, Connection as _};

use super::dialect::Plans;
use super::error::SessionsShared;
use crate::statements::pg_only;
use crate::statements::server::{ServerPlanParams, ServerSetParams, ServerSettingReadParams};

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

/// Where a server ends a session that it was told to end, or that was idle: it names the place in its message, and nobody
/// who stands between does.
const ENDING: &str = "ProcessInterrupts";

/// The key of a URL that says how many prepared statements a connection keeps.
const STATEMENT_CACHE_KEY: &str = "statement-cache-capacity=";

/// How often two connections are compared before each counts as having its session to itself.
const LOOKS: usize = 3;

/// How long that may take. Where only one session is to be had, nobody can look.
const LOOKING: Duration = Duration::from_secs(5);

/// What a server says to a statement that was prepared in another session, or prepared there already.
const PREPARED_ELSEWHERE: [&str; 2] = ["26000", "42P05"];

/// Opens a pool whose connections leave wake-ups to this process and hold nothing for a client that is gone.
///
/// # Errors
/// The driver's error when the URL cannot be read or the server cannot be reached; [`SessionsShared`] as its
/// configuration's where a pooler hands sessions on after each transaction.
pub(crate) async fn open_pool(config: &PostgresConnection) -> Result<PgPool, sqlx::Error> {
    let mut options = PgConnectOptions::from_str(&config.url)?;
    if !config.url.contains(STATEMENT_CACHE_KEY) {
        options = options.statement_cache_capacity(STATEMENT_CACHE);
    }
    let given = options.get_options().map(pairs).unwrap_or_default(); // tidy: no options are none
    let is_open = |name: &str| given.iter().all(|(given, _)| given != name);
    let is_watched = is_open(WATCH.0);
    let limits: Vec<_> = LIMITS.into_iter().filter(|(name, _)| is_open(name)).collect();
    let own = limits.iter().chain(&PINNED).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let settings: Arc<[_]> = given.iter().cloned().chain(own).collect();
    let options = options.options(limits).options(PINNED).disable_statement_logging();
    if shares_sessions(&options).await {
        return Err(sqlx::Error::Configuration(Box::new(SessionsShared)));
    }
    PgPoolOptions::new()
        .max_connections(config.max_connections)
        .min_connections(config.min_connections)
        .acquire_timeout(config.acquire_timeout)
        .test_before_acquire(false)
        .after_connect(move |connection, _| {
            let settings = Arc::clone(&settings);
            Box::pin(async move {
                keep_settings(connection, &settings).await?;
                if is_watched { watch_client(connection).await } else { Ok(()) }
            })
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

/// Sets what a connection asked for when it was opened, where a pooler kept that from the server.
async fn keep_settings(connection: &mut PgConnection, settings: &[(String, String)]) -> Result<(), sqlx::Error> {
    let params = ServerSettingReadParams { setting: WAKEUPS.0.to_owned() };
    if pg_only::server_setting_read(connection, &params).await?.value.as_deref() == Some(WAKEUPS.1) {
        return Ok(());
    }
    for (setting, value) in settings {
        let params = ServerSetParams { setting: setting.clone(), value: value.clone() };
        pg_only::server_set(connection, &params).await?;
    }
    Ok(())
}

/// Whether a pooler hands a session to whoever comes next after each transaction. What is not certain, because others came
/// between at each look or the server could not be asked, is not so.
async fn shares_sessions(options: &PgConnectOptions) -> bool {
    match tokio::time::timeout(LOOKING, compare_sessions(options)).await {
        Ok(Ok(are_shared)) => are_shared,
        Ok(Err(error)) => {
            let code = error.as_database_error().and_then(DatabaseError::code);
            code.is_some_and(|code| PREPARED_ELSEWHERE.contains(&&*code))
        }
        Err(_) => false,
    }
}

/// Whether two connections are served by the same session, or one by another than before.
async fn compare_sessions(options: &PgConnectOptions) -> Result<bool, sqlx::Error> {
    let mut first = PgConnection::connect_with(options).await?;
    let mut second = PgConnection::connect_with(options).await?;
    let mut are_shared = false;
    for _ in 0..LOOKS {
        let before = pg_only::server_session_read(&mut first).await?;
        let others = pg_only::server_session_read(&mut second).await?;
        let after = pg_only::server_session_read(&mut first).await?;
        are_shared |= before.session_id == others.session_id || before.session_id != after.session_id;
    }
    first.close().await?;
    second.close().await?;
    Ok(are_shared)
}

/// A pool of one connection beside a pool of ours, set up as those are and opened when it is first asked for.
pub(super) fn sweeping_pool(pool: &PgPool) -> Option<PgPool> {
    is_ours(pool).then(|| beside(pool))
}

/// The same beside any pool.
pub(super) fn beside(pool: &PgPool) -> PgPool {
    let options = pool.options().clone().min_connections(0).max_connections(1);
    options.connect_lazy_with(PgConnectOptions::clone(&pool.connect_options()))
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

/// What startup options set: words with `-c` or `--` before each, in which a backslash keeps a blank.
fn pairs(options: &str) -> Vec<(String, String)> {
    let (mut words, mut is_kept) = (vec![String::new()], false);
    for letter in options.chars() {
        match letter {
            '\\' if !is_kept => {
                is_kept = true;
                continue;
            }
            blank if blank.is_whitespace() && !is_kept => words.push(String::new()),
            letter => words.last_mut().into_iter().for_each(|word| word.push(letter)),
        }
        is_kept = false;
    }
    let names = words.iter().filter_map(|word| word.trim_start_matches("-c").trim_start_matches("--").split_once('='));
    names.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Whether operations that wait at the same moment go together: unless the pool's connections are set to
/// `ff_sql.combining=off`.
pub(super) fn combines(pool: &PgPool) -> bool {
    let options = pool.connect_options();
    options.get_options().is_none_or(|given| !given.contains(COMBINING))
}

/// Has the server look whether the client is still there. One that cannot is used without.
async fn watch_client(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let params = ServerSetParams { setting: WATCH.0.to_owned(), value: WATCH.1.to_owned() };
    match pg_only::server_set(connection, &params).await {
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
/// was given, is not done.
///
/// What ends the session says so of itself alone: a pooler says it when it has lost its server, whatever that had
/// committed by then, and so does a server that crashes. Only a server that was told to end a session, or found it
/// idle for too long, looks for that between statements and before it commits one.
pub(super) fn is_refused(error: &sqlx::Error) -> bool {
    is_undone(error, &["25P03", "57P05", "57P01"])
}

/// Whether an error that answers a commit says that nothing was committed: the server had ended the session before,
/// because it was idle, or refused the commit and lives. One that is told to end a session may hear of it while it
/// logs what it has just committed.
pub(super) fn is_uncommitted(error: &sqlx::Error) -> bool {
    is_undone(error, &["25P03", "57P05"])
}

/// Whether an error leaves the session as it is, or is a server's own word that it ended it, by one of these codes, where
/// nothing was under way or it was undone.
fn is_undone(error: &sqlx::Error, unharmful: &[&str]) -> bool {
    error.as_database_error().is_some_and(|database| {
        let is_own =
            || database.try_downcast_ref::<PgDatabaseError>().and_then(PgDatabaseError::routine) == Some(ENDING);
        !ends_session(database) || database.code().is_some_and(|code| unharmful.contains(&&*code)) && is_own()
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
        let named =
            |given: &str| pairs(given).into_iter().find(|(name, _)| name == "lock_timeout").map(|(_, value)| value);
        for given in ["-c lock_timeout=1s", "-clock_timeout=1s", "-c geqo=off -c lock_timeout=1s", "--lock_timeout=1s"]
        {
            assert_eq!(named(given).as_deref(), Some("1s"), "{given}");
        }
        for given in ["", "-c geqo=off", "-c deadlock_timeout=1s", "-c lock_timeouts=1s"] {
            assert_eq!(named(given), None, "{given}");
        }
        let escaped = pairs(r"-c a=read\ committed -c b=c:\\d");
        let escaped: Vec<_> = escaped.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(escaped, [("a", "read committed"), ("b", r"c:\d")]);
    }

    #[test]
    fn an_error_without_a_server_behind_it_loses_the_connection_and_says_nothing_of_the_statement() {
        let lost = sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into());
        assert!(is_gone(&lost) && is_spoilt(&lost) && !is_refused(&lost) && !is_uncommitted(&lost));
    }
}
