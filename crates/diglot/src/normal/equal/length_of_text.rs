//! LENGTH, CHAR_LENGTH and CHARACTER_LENGTH of a text.
//!
//! # Why
//!
//! All count characters.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT length(t.name) AS c FROM t
//! pg:     SELECT char_length(t.name) AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT length(t.name) AS c FROM t
//! pg:     SELECT octet_length(t.name) AS c FROM t
//! ```

use super::super::{Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let is_long = ["char_length", "character_length"].contains(&node.head.as_str()) && node.kids.len() == 1;
    is_long.then(|| Node { head: "length".to_owned(), ..node.clone() })
}
