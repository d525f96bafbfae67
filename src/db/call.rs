//! Calls of generated statements through the door, by the statement's name.
//!
//! What a call is made on has a method `db()`: the engine, or whatever else holds a [`Db`](super::Db).

/// One atomic generated call: `unit!(engine, lease_renew, params)`. Given a closure as well, it lists what to
/// tell after the commit: `|row, wakes| wakes.lease(row.lease_event_id, partition_key)`, asked only when there
/// is a row.
macro_rules! unit {
    ($on:expr, $statement:ident, $params:expr) => {
        $on.db()
            .unit(
                stringify!($statement),
                $params,
                |conn, params| Box::pin(crate::statements::Statements::$statement(conn, params)),
                crate::db::silent,
            )
            .await
    };
    ($on:expr, $statement:ident, $params:expr, |$row:ident, $wakes:ident| $tell:expr) => {
        $on.db()
            .unit(
                stringify!($statement),
                $params,
                |conn, params| Box::pin(crate::statements::Statements::$statement(conn, params)),
                move |_, row, $wakes| {
                    if let Some($row) = row {
                        $tell;
                    }
                },
            )
            .await
    };
}

/// One atomic generated call that Postgres may make for several callers at once; as `unit!` otherwise.
#[cfg(feature = "postgres")]
macro_rules! combined {
    ($on:expr, $statement:ident, $params:expr) => {
        $on.db()
            .combined(
                stringify!($statement),
                $params,
                |conn, params| Box::pin(crate::statements::Statements::$statement(conn, params)),
                crate::db::silent,
            )
            .await
    };
    ($on:expr, $statement:ident, $params:expr, |$row:ident, $wakes:ident| $tell:expr) => {
        $on.db()
            .combined(
                stringify!($statement),
                $params,
                |conn, params| Box::pin(crate::statements::Statements::$statement(conn, params)),
                move |_, row, $wakes| {
                    if let Some($row) = row {
                        $tell;
                    }
                },
            )
            .await
    };
}

/// One atomic generated call; SQLite's writer puts those of several callers into one transaction.
#[cfg(not(feature = "postgres"))]
macro_rules! combined {
    ($($call:tt)*) => { unit!($($call)*) };
}

/// One generated read outside a transaction: `read!(engine, execution_read, params)`.
macro_rules! read {
    ($on:expr, $statement:ident) => {
        $on.db()
            .read(stringify!($statement), (), |conn, ()| Box::pin(crate::statements::Statements::$statement(conn)))
            .await
    };
    ($on:expr, $statement:ident, $params:expr) => {
        $on.db()
            .read(stringify!($statement), $params, |conn, params| {
                Box::pin(crate::statements::Statements::$statement(conn, params))
            })
            .await
    };
}

/// One generated read of every partition: `survey!(engine, event_completion_page, params)`.
macro_rules! survey {
    ($on:expr, $statement:ident, $params:expr) => {
        $on.db()
            .survey(stringify!($statement), $params, |conn, params| {
                Box::pin(crate::statements::Statements::$statement(conn, params))
            })
            .await
    };
}

/// Several generated calls in one transaction. The names in brackets are lent to every try; the second
/// closure, if given, lists what to tell after the commit:
/// `transaction!(engine, "cancel", [lock, cancel], |conn| { .. }, |answer, wakes| ..)`.
macro_rules! transaction {
    ($on:expr, $name:literal, [$($lent:ident),* $(,)?], |$conn:ident| $body:block) => {
        $on
            .db()
            .write(
                $name,
                ($($lent,)*),
                move |$conn, ($($lent,)*)| Box::pin(async move { $body }),
                crate::db::silent,
            )
            .await
    };
    (
        $on:expr, $name:literal, [$($lent:ident),* $(,)?],
        |$conn:ident| $body:block, |$answer:ident, $wakes:ident| $tell:expr
    ) => {
        $on
            .db()
            .write(
                $name,
                ($($lent,)*),
                move |$conn, ($($lent,)*)| Box::pin(async move { $body }),
                move |_, $answer, $wakes| $tell,
            )
            .await
    };
}
