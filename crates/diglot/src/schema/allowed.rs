//! What is allowed of the schemas and of the migrations, and which permissions nothing needs.

use std::collections::BTreeSet;

use super::{hazards, lints};
use crate::diagnostic::Diagnostic;
use crate::page::{Annotation, AnnotationKind};
use crate::rule::{self, Rule};
use crate::source::FileId;

/// The lines `-- allow(RULE)` and `-- allow(RULE.ITEM)` of migrations and of the file beside them.
pub(crate) struct Allowed<'d> {
    declared: &'d [Annotation],
    used: Vec<bool>,
    /// The migrations.
    steps: BTreeSet<FileId>,
}

impl<'d> Allowed<'d> {
    pub(crate) fn new(declared: &'d [Annotation], steps: BTreeSet<FileId>) -> Self {
        Self { declared, used: vec![false; declared.len()], steps }
    }

    /// Whether a line allows what a rule finds about an item. `step` is the migration that it is about, if it is about one:
    /// what that one allows without a name holds for it alone.
    pub(super) fn fits(&mut self, rule: Rule, item: &str, step: Option<FileId>) -> bool {
        let mut allowed = false;
        for (annotation, used) in self.declared.iter().zip(&mut self.used) {
            let AnnotationKind::Allow { rule: named, .. } = &annotation.kind else { continue };
            let fits = match named.split_once('.') {
                Some((named, of)) => {
                    let rest = item.strip_prefix(of);
                    named == rule.name && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                }
                None => {
                    let file = annotation.span.file;
                    named == rule.name && step.is_none_or(|step| step == file || !self.steps.contains(&file))
                }
            };
            *used |= fits;
            allowed |= fits;
        }
        allowed
    }

    /// The lines that nothing needs.
    pub(crate) fn unneeded(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (annotation, _) in self.declared.iter().zip(&self.used).filter(|(_, used)| !**used) {
            let AnnotationKind::Allow { rule, .. } = &annotation.kind else { continue };
            let name = rule.split('.').next().unwrap_or(rule);
            if [rule::MIGRATION_DIFFERS.name, rule::RELEASE_DIFFERS.name].contains(&name) {
                // Whether there is something to allow is known from running it.
                continue;
            }
            let message = format!("schema: `-- allow({rule})` has nothing to allow");
            let (label, help) = match lints::is_lint(name) || hazards::is_hazard(name) {
                true => ("the rule finds nothing here", "remove the line".to_owned()),
                false => ("no lint of the schemas", format!("the lints are: {}", lints::names().join(", "))),
            };
            found.push(Diagnostic::error(rule::UNUSED_ALLOW, message, annotation.span, label).help(help));
        }
        found
    }
}
