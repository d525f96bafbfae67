//! DISTINCT inside a set operation that takes each row once.

use super::{Form, Node};

/// A branch without its own DISTINCT.
pub(super) fn of_branch(mut branch: Node) -> Node {
    if branch.head == Form::Select {
        // DISTINCT ON chooses rows, so it stays.
        branch.kids.retain(|kid| kid.head != Form::Distinct || !kid.kids.is_empty());
    }
    branch
}
