//! The registry of equivalences: every way in which two texts mean the same has a page with its documentation.
//!
//! A page is the text for `cargo diglot explain`: a line that says what is the same, then why, pairs that
//! are the same, and, where some are near, pairs that are not. The tests compile every pair. A step sees an
//! expression with the node that its parts make, and gives the node that both dialects share.

use super::{Head, Names, Node};
use crate::rule::{Rule, text};
use crate::tree::Expr;

pub(crate) use folded_like::patterns;
pub(super) use json_type_word::asked_kind;

/// Puts one spelling into the common form; none where it is about something else.
type Step = fn(&Names<'_>, &Expr, &Node) -> Option<Node>;

/// Declares the modules of steps and lists them, with the pages of those whose code needs more than one expression.
macro_rules! equivalences {
    (steps { $($module:ident = $name:literal,)* } elsewhere { $($path:literal = $other:literal,)* }) => {
        $(mod $module;)*

        /// All equivalences.
        pub const ALL: &[Rule] = &[
            $(equivalence!($name, concat!(stringify!($module), ".md")),)*
            $(equivalence!($other, $path),)*
        ];

        /// In the order in which they are taken.
        const STEPS: &[Step] = &[$($module::step),*];
    };
}

macro_rules! equivalence {
    ($name:expr, $($path:tt)*) => {{
        let (summary, doc) = text::cut(include_str!($($path)*));
        Rule { name: $name, summary, doc }
    }};
}

equivalences! {
    steps {
        ifnull = "ifnull",
        iif = "iif",
        case_as_function = "case-as-function",
        position_in_text = "position-in-text",
        length_of_text = "length-of-text",
        length_of_bytes = "length-of-bytes",
        substring = "substring",
        right_part = "right-part",
        hex_of_bytes = "hex-of-bytes",
        counted_column = "counted-column",
        filtered_aggregate = "filtered-aggregate",
        flag_aggregate = "flag-aggregate",
        glob_pattern = "glob-pattern",
        folded_like = "folded-like",
        round_half = "round-half",
        cut_off = "cut-off",
        epoch_seconds = "epoch-seconds",
        epoch_milliseconds = "epoch-milliseconds",
        json_field = "json-field",
        json_type_word = "json-type-word",
        json_append = "json-append",
        json_merge = "json-merge",
        optional_member = "optional-member",
        stored_time = "stored-time",
        array_as_json = "array-as-json",
        concat_of_texts = "concat-of-texts",
        text_chain = "text-chain",
        hyphenated_id = "hyphenated-id",
        joined_texts = "joined-texts",
        counted_cases = "counted-cases",
        first_letters = "first-letters",
        formatted_time = "formatted-time",
    }
    elsewhere {
        "../asked_for_truth.md" = "asked-for-truth",
        "../common_type.md" = "common-type",
        "../elements.md" = "elements",
        "../ordered_rows.md" = "ordered-rows",
        "../inner_in_effect.md" = "inner-in-effect",
        "../ignored_conflict.md" = "ignored-conflict",
        "../known.md" = "known-values",
        "../membership.md" = "membership",
        "../negation.md" = "negation",
        "../no_limit.md" = "no-limit",
        "../no_offset.md" = "no-offset",
        "../null_place.md" = "null-place",
        "../one_of_each.md" = "one-of-each",
        "../one_row.md" = "one-row",
        "../picked_row.md" = "picked-row",
        "../proposed_row.md" = "proposed-row",
        "../replaced_row.md" = "replaced-row",
        "../row_comparison.md" = "row-comparison",
        "../tested_flag.md" = "tested-flag",
        "../write_lock.md" = "write-lock",
        "../written_document.md" = "written-document",
        "../handed_over.md" = "handed-over",
        "../../pipeline/constant.md" = "constant-rows",
    }
}

/// An expression's node after every step.
pub(super) fn settled(names: &Names<'_>, expr: &Expr, mut node: Node) -> Node {
    for step in STEPS {
        if let Some(settled) = step(names, expr, &node) {
            node = settled;
        }
    }
    node
}

/// The only kid of a node with that head.
fn inside<H>(node: &Node, head: H) -> Option<&Node>
where
    Head: PartialEq<H>,
{
    match node.kids.as_slice() {
        [only] if node.head == head => Some(only),
        _ => None,
    }
}

/// The kids of a node with that head, where there are two.
fn both<H>(node: &Node, head: H) -> Option<(&Node, &Node)>
where
    Head: PartialEq<H>,
{
    match node.kids.as_slice() {
        [left, right] if node.head == head => Some((left, right)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
