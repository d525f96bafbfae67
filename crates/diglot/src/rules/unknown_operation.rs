//! Nothing is known of a word.
//!
//! # What it finds
//!
//! A function, an operator, a cast, a type or a collation on a page of a pair that the table of operations does not have
//! for what it is given, and a construct that no engine-independent form is known for. The same word on both pages is no
//! excuse.
//!
//! # Why it bites
//!
//! Engines have words in common that do something else in each, for some values only. A pair passes when everything in
//! it is known to be the same, not when nobody thought of a difference.
//!
//! # Write instead
//!
//! Words that are known: the finding names those that are near. Where both engines are known to do the same,
//! `-- allow(unknown-operation): reason` takes the word as it is written, and counts as waived.
//!
//! # Example
//!
//! ```text
//! -- allow(unknown-operation): both extensions are built from one source, and tests hold them alike
//! SELECT id, soundex(name) AS sound FROM person
//! ```

use std::collections::BTreeSet;

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::operations::{Sense, sense};
use crate::page::AnnotationKind;
use crate::rule;

/// The comparison finds the unknown words of a pair. Here are those that a page takes responsibility for, so that a line
/// which allows nothing is found.
pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let pages = [Some(context.page), context.facing];
    let allows = |kind: &AnnotationKind| matches!(kind, AnnotationKind::Allow { rule, .. } if rule == rule::UNKNOWN_OPERATION.name);
    let mut annotations = pages.into_iter().flatten().flat_map(|page| &page.raw.annotations);
    if context.facing.is_none() || !annotations.any(|annotation| allows(&annotation.kind)) {
        return;
    }
    for expr in &context.exprs {
        if let Some(Sense::Unknown(unknown)) = sense(context.page.tree.dialect, expr, &BTreeSet::new()) {
            let message = format!("{}: nothing is known of `{}`", context.name(), unknown.written);
            found.push(Diagnostic::error(rule::UNKNOWN_OPERATION, message, expr.span, "allowed"));
        }
    }
}
