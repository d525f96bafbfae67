//! Whether a statement takes steps where its tables are spread, each of which is one task.

use super::{LINTS, insert_by_way, insert_in_with};
use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::infer::PageOf;
use crate::page::AnnotationKind;
use crate::rule::{self, Rule};
use crate::rules::{Context, is_allowed_by};
use crate::source::{Sources, Span};
use crate::steps::{self, Steps};

/// What an INSERT does that one task does not.
const CAUSES: [Rule; 2] = [rule::INSERT_BY_WAY, rule::INSERT_IN_WITH];

/// The steps of a statement that takes them.
pub(crate) fn in_steps(sources: &Sources, config: &Config, pages: &[&PageOf<'_>]) -> Option<Steps> {
    config.distributed?;
    let page = pages.iter().find(|page| page.tree.dialect == Dialect::Pg)?;
    let context = Context::new(sources, config, page, None, &[]);
    let mut found = Vec::new();
    insert_by_way::check(&context, &mut found);
    insert_in_with::check(&context, &mut found);
    if !asks_for_steps(pages, &found) {
        return None;
    }
    derived(sources, config, pages, page).ok().map(|(steps, _)| steps)
}

/// Takes out what is found about shards of a statement that takes steps, or says why it takes none. `found` is what is
/// found on the page.
pub(in crate::rules) fn settle(
    sources: &Sources,
    config: &Config,
    pages: &[&PageOf<'_>],
    page: &PageOf<'_>,
    found: &mut Vec<Diagnostic>,
) {
    if !asks_for_steps(pages, found) {
        return;
    }
    match derived(sources, config, pages, page) {
        Ok((_, allowed)) => {
            found.retain(|finding| !is_about_shards(finding.rule));
            found.extend(allowed);
        }
        Err((span, why)) => {
            let first = found.iter_mut().find(|finding| CAUSES.iter().any(|cause| cause.name == finding.rule));
            if let Some(first) = first {
                *first = first.clone().context(span, format!("takes no steps: {why}"));
            }
        }
    }
}

/// Whether something would be inserted by more than one task, and nobody says that it may be.
fn asks_for_steps(pages: &[&PageOf<'_>], found: &[Diagnostic]) -> bool {
    let is_cause = |name: &str| CAUSES.iter().any(|cause| cause.name == name);
    found.iter().any(|finding| is_cause(finding.rule)) && !CAUSES.iter().any(|cause| is_allowed(pages, cause.name))
}

fn is_allowed(pages: &[&PageOf<'_>], name: &str) -> bool {
    let said = pages.iter().flat_map(|page| &page.raw.annotations);
    said.into_iter().any(|said| matches!(&said.kind, AnnotationKind::Allow { rule, .. } if is_allowed_by(name, rule)))
}

/// Whether a rule is about shards.
pub(in crate::rules) fn is_about_shards(name: &str) -> bool {
    LINTS.iter().any(|lint| lint.rule.name == name)
}

/// The steps with what is allowed of them; or why there are none, and where that stands.
fn derived(
    sources: &Sources,
    config: &Config,
    pages: &[&PageOf<'_>],
    page: &PageOf<'_>,
) -> Result<(Steps, Vec<Diagnostic>), (Span, String)> {
    if pages.len() < 2 {
        return Err((page.raw.name_span, "no facing statement shows what they are to do".to_owned()));
    }
    let steps = steps::steps(sources, page).map_err(|whole| (whole.span, whole.why.to_owned()))?;
    let mut allowed = Vec::new();
    for tree in steps.trees(page.tree) {
        let step = PageOf { raw: page.raw, tree: &tree, schema: page.schema };
        let context = Context::new(sources, config, &step, None, &[]);
        let mut found = Vec::new();
        LINTS.iter().for_each(|lint| (lint.check)(&context, &mut found));
        for finding in found {
            if is_allowed(pages, finding.rule) {
                allowed.push(finding);
                continue;
            }
            let words = finding.message.split_once(": ").map_or(finding.message.as_str(), |(_, words)| words);
            let span = finding.labels.first().map_or(page.raw.name_span, |label| label.span);
            return Err((span, format!("in a step {words}")));
        }
    }
    Ok((steps, allowed))
}
