//! Transactions of several generated calls, with what is lent to each try.
//!
//! What a transaction is made on has a method `db()`: the engine, or whatever else holds a [`Db`](super::Db).

/// Several generated calls in one transaction. The names in brackets are lent to every try; the second
/// closure, if given, lists what to tell after the commit:
/// `transaction!(engine, "cancel", [lock, cancel], |conn| { .. }, |answer, wakes| ..)`. `plainly` names what is tried in their
/// place: a statement, and what makes an answer of its row.
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
    (
        $on:expr, $name:literal, plainly $plain:expr, [$($lent:ident),* $(,)?],
        |$conn:ident| $body:block, |$answer:ident, $wakes:ident| $tell:expr
    ) => {
        $on
            .db()
            .write_plainly(
                $name,
                $plain,
                ($($lent,)*),
                move |$conn, ($($lent,)*)| Box::pin(async move { $body }),
                move |_, $answer, $wakes| $tell,
            )
            .await
    };
}

/// A call of a statement that may take steps, inside a transaction: `in_steps!(D: conn.lease_event_insert(&params))`.
macro_rules! in_steps {
    ($dialect:ident: $conn:ident.$statement:ident($params:expr)) => {
        crate::db::dialect::called::<$dialect, _>($conn, stringify!($statement), $params)
    };
}
