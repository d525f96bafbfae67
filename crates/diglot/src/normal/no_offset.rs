//! An OFFSET that skips nothing.
//!
//! # Why
//!
//! `OFFSET 0` skips no row on either engine. On Postgres it is written to keep a query in brackets from being flattened into
//! the one around it, which decides when things happen and not what comes out. NULL skips nothing on Postgres; on SQLite it is
//! an error, and so stays a difference.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t ORDER BY t.id LIMIT 5
//! pg:     SELECT t.n AS c FROM t ORDER BY t.id LIMIT 5 OFFSET 0
//! sqlite: SELECT t.big AS c FROM t WHERE t.id IN (SELECT u.id FROM (SELECT t.id FROM t WHERE t.n = 1) AS u)
//! pg:     SELECT t.big AS c FROM t WHERE t.id IN (SELECT u.id FROM (SELECT t.id FROM t WHERE t.n = 1 OFFSET 0) AS u)
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t ORDER BY t.id LIMIT 5
//! pg:     SELECT t.n AS c FROM t ORDER BY t.id LIMIT 5 OFFSET 1
//! sqlite: SELECT t.n AS c FROM t ORDER BY t.id LIMIT 5
//! pg:     SELECT t.n AS c FROM t ORDER BY t.id LIMIT 5 OFFSET :skipped
//! ```

use crate::tree::{Expr, ExprKind, Query};

/// The offset of a query, where it may skip a row.
pub(crate) fn offset(query: &Query) -> Option<&Expr> {
    let skips = |offset: &&Expr| !matches!(&offset.kind, ExprKind::Number(text) if text == "0");
    query.offset.as_ref().filter(skips)
}
