//! What a statement declares more than once.

use std::collections::BTreeMap;

use super::Splitter;
use crate::diagnostic::Diagnostic;
use crate::page::{Annotation, AnnotationKind};
use crate::rule;
use crate::source::Span;

impl Splitter<'_> {
    /// `only` twice, or the same parameter or column declared twice.
    pub(super) fn repeated(&mut self, owner: &str, annotations: &[Annotation]) {
        let mut seen: BTreeMap<(&str, &str), Span> = BTreeMap::new();
        for annotation in annotations {
            let key = match &annotation.kind {
                AnnotationKind::Only { .. } => ("only", ""),
                AnnotationKind::Both => ("both", ""),
                AnnotationKind::Each { .. } => ("each", ""),
                AnnotationKind::Param { name, .. } => ("param", name.as_str()),
                AnnotationKind::Column { name, .. } => ("column", name.as_str()),
                AnnotationKind::Diverges { .. }
                | AnnotationKind::Allow { .. }
                | AnnotationKind::Rows { .. }
                | AnnotationKind::Transaction { .. } => continue,
            };
            if let Some(first) = seen.insert(key, annotation.span) {
                let what = format!("{} {}", key.0, key.1);
                let message = format!("{owner}: `{}` is declared twice", what.trim_end());
                let finding = Diagnostic::error(rule::UNKNOWN_ANNOTATION, message, annotation.span, "declared again");
                self.found.push(finding.context(first, "declared first").help("keep one of the two lines"));
            }
        }
    }

    /// Rows of two names, or two fields of one name in two lines.
    pub(super) fn rows(&mut self, owner: &str, annotations: &[Annotation]) {
        let mut known: Option<(&str, Span)> = None;
        let mut fields = BTreeMap::new();
        for annotation in annotations {
            let AnnotationKind::Rows { name, fields: own } = &annotation.kind else { continue };
            let (first, place) = *known.get_or_insert((name, annotation.span));
            if first != name {
                let message = format!("{owner}: takes rows under two names, `{first}` and `{name}`");
                let finding = Diagnostic::error(rule::UNKNOWN_ANNOTATION, message, annotation.span, "a second list");
                let help = "a statement takes one list: write all fields under one name, or pass a list parameter";
                self.found.push(finding.context(place, "the first list").help(help));
                continue;
            }
            for field in own {
                if let Some(first) = fields.insert(field.name.as_str(), annotation.span) {
                    let message = format!("{owner}: two fields of `{name}` are called `{}`", field.name);
                    let finding =
                        Diagnostic::error(rule::UNKNOWN_ANNOTATION, message, annotation.span, "declared again");
                    self.found.push(finding.context(first, "declared first").help("keep one of them"));
                }
            }
        }
    }
}
