//! DISTINCT inside a set operation that takes each row once.
//!
//! # Why
//!
//! UNION, INTERSECT and EXCEPT without ALL give every row once; whether a branch gave it twice means nothing.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.name AS c FROM t WHERE t.n IN (SELECT DISTINCT t.n FROM t UNION SELECT u.n FROM u)
//! pg:     SELECT t.name AS c FROM t WHERE t.n IN (SELECT t.n FROM t UNION SELECT u.n FROM u)
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT count(*) AS c FROM (SELECT DISTINCT t.n FROM t UNION ALL SELECT u.n FROM u) AS x
//! pg:     SELECT count(*) AS c FROM (SELECT t.n FROM t UNION ALL SELECT u.n FROM u) AS x
//! ```

use super::{Form, Node};

/// A branch without its own DISTINCT.
pub(super) fn of_branch(mut branch: Node) -> Node {
    if branch.head == Form::Select {
        // DISTINCT ON chooses rows, so it stays.
        branch.kids.retain(|kid| kid.head != Form::Distinct || !kid.kids.is_empty());
    }
    branch
}
