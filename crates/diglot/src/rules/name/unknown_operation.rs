//! Nothing is known of a word.

use std::collections::BTreeSet;

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::operations::{Sense, sense};
use crate::page::AnnotationKind;
use crate::rule;

/// The comparison finds the unknown words of a pair. Here are those that a page takes responsibility for, so that a line
/// which allows nothing is found.
pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
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
