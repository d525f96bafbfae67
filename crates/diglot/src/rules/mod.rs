//! The registry of rules: every diagnostic has a rule, every rule has a page with its documentation.
//!
//! A folder holds the rules of one family. A rule's page is its text for `cargo diglot explain`: a line that says what is
//! wrong, then what it finds, why it bites, what to write instead, an example. Findings about one statement or pair that
//! no pass needs for its own work are lints; a file beside the page holds the check, and `lints!` of the family lists it.

/// Declares the lints of a family, each by the file of its check and its rule.
macro_rules! lints {
    (@yields yields) => { true };
    (@yields) => { false };
    ($($check:ident = $rule:ident $($yields:ident)?,)*) => {
        $(pub(super) mod $check;)*

        /// The lints of this family, which `-- allow(rule): reason` can silence.
        pub(super) const LINTS: &[crate::rules::Lint] = &[$(crate::rules::Lint {
            rule: crate::rule::$rule,
            check: $check::check,
            yields: lints!(@yields $($yields)?),
        }),*];
    };
}

mod document;
pub(crate) mod lock;
mod look;
mod moving;
mod name;
mod number;
mod page;
mod row;
mod run;
mod shard;
mod text;
mod time;
mod write;

use std::collections::BTreeMap;

use self::look::Word;
pub(crate) use self::shard::in_steps::in_steps;
use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::engine::Majors;
use crate::infer::{PageOf, Param, Signature};
use crate::names::nearest;
use crate::page::AnnotationKind;
use crate::rule;
pub use crate::rule::{
    ALL, BUILT_TEXT, ENGINE_REFUSES, MISSING_STATEMENT, RELEASE_DIFFERS, RESULTS_DIFFER, Rule, SET_DIFFERS, SYNTAX,
    TABLES_DIFFER, UNUSED_ALLOW, UNUSED_DIVERGENCE, WHERE_DIFFERS,
};
use crate::source::{Sources, Span};
use crate::tree::{Expr, Source, SourceId};

/// What a lint looks at.
pub(crate) struct Context<'a> {
    /// The project's configuration.
    pub(crate) config: &'a Config,
    /// The page that is looked at.
    pub(crate) page: &'a PageOf<'a>,
    /// The facing page, unless the statement stands alone.
    pub(crate) facing: Option<&'a PageOf<'a>>,
    /// The parameters with the types that both pages give them, where they are known.
    params: &'a [Param],
    /// Every expression of the page, each before those inside it.
    exprs: Vec<&'a Expr>,
    /// Every source of the page.
    by_id: BTreeMap<SourceId, &'a Source>,
    /// The majors of Postgres that the project runs on.
    majors: Majors,
    /// The tokens of each SQL statement of the page.
    tokens: Vec<Vec<Word<'a>>>,
}

impl<'a> Context<'a> {
    fn new(
        sources: &'a Sources,
        config: &'a Config,
        page: &'a PageOf<'a>,
        facing: Option<&'a PageOf<'a>>,
        params: &'a [Param],
    ) -> Context<'a> {
        let by_id = page.tree.sources().into_iter().map(|source| (source.id, source)).collect();
        let (majors, tokens) = (Majors::of(&config.pg_majors), look::tokens(sources, page));
        Context { config, page, facing, params, exprs: page.tree.exprs(), by_id, majors, tokens }
    }

    /// The statement's name.
    fn name(&self) -> &str {
        &self.page.raw.name
    }
}

/// A lint's check; it adds what it finds.
type Check = fn(&Context<'_>, &mut Vec<Diagnostic>);

/// A rule that looks at one statement.
struct Lint {
    rule: Rule,
    check: Check,
    /// Whether it says nothing of a place of which another one does, and one thing of each.
    yields: bool,
}

/// Every lint of one statement or pair, by family.
fn all_lints() -> impl Iterator<Item = &'static Lint> {
    [
        document::LINTS,
        lock::LINTS,
        name::LINTS,
        number::LINTS,
        page::LINTS,
        row::LINTS,
        run::LINTS,
        shard::LINTS,
        text::LINTS,
        time::LINTS,
        write::LINTS,
    ]
    .into_iter()
    .flatten()
}

/// Every way in which two texts mean the same, with its text for `cargo diglot explain`.
pub use crate::normal::EQUIVALENCES;

/// The rule of that name.
pub fn find(name: &str) -> Option<&'static Rule> {
    ALL.iter().find(|rule| rule.name == name)
}

/// Rules about runs that show nothing.
const OF_RUNS: [&str; 2] = [rule::UNPROVED_LIST.name, rule::UNPROVED_STEPS.name];

/// What `-- allow` names where a statement is not run on tables that are spread: all that is found about shards.
const OF_SHARDS: &str = "shards";

/// Whether `-- allow(named)` lets pass what that rule finds.
fn is_allowed_by(rule: &str, named: &str) -> bool {
    rule == named || named == OF_SHARDS && shard::in_steps::is_about_shards(rule)
}

/// The names of the rules that `-- allow` may name.
pub fn allowed() -> impl Iterator<Item = &'static str> {
    all_lints().map(|lint| lint.rule.name).chain(lock::transaction::RULES).chain(lock::locked::RULES).chain(OF_RUNS)
}

/// Runs the lints over a pair, or over a page that stands alone, and drops what `-- allow` lets pass. An
/// `-- allow` on either page holds for both.
pub(crate) fn lint(
    sources: &Sources,
    config: &Config,
    pages: &[&PageOf<'_>],
    signature: Option<&Signature>,
) -> Vec<Diagnostic> {
    let params = signature.map_or(&[][..], |signature| &signature.params);
    let mut found = Vec::new();
    for (at, page) in pages.iter().enumerate() {
        let facing = pages.iter().enumerate().find(|(other, _)| *other != at).map(|(_, page)| *page);
        let context = Context::new(sources, config, page, facing, params);
        let mut own = Vec::new();
        all_lints().for_each(|lint| (lint.check)(&context, &mut own));
        shard::in_steps::settle(sources, config, pages, page, &mut own);
        found.extend(own);
    }
    one_per_cause(&mut found);
    allow(pages, found)
}

/// Leaves out what a yielding lint says of a place of which another one says more.
fn one_per_cause(found: &mut Vec<Diagnostic>) {
    let place = |finding: &Diagnostic| finding.labels.first().map(|label| label.span);
    let yields = |finding: &Diagnostic| all_lints().any(|lint| lint.yields && lint.rule.name == finding.rule);
    let of_others: Vec<_> = found.iter().filter(|finding| !yields(finding)).map(place).collect();
    let mut said = Vec::new();
    found.retain(|finding| {
        let at = place(finding);
        let again = yields(finding) && (of_others.contains(&at) || said.contains(&at));
        said.push(at);
        !again
    });
}

/// That a page allows what a rule does not find: `label` says why there is nothing.
pub(crate) fn unused_allow(name: &str, rule: &str, span: Span, label: &str) -> Diagnostic {
    Diagnostic::error(rule::UNUSED_ALLOW, format!("{name}: `-- allow({rule})` has nothing to allow"), span, label)
}

/// What an exception is told of that has nothing to allow.
const NOTHING_FOUND: &str = "the rule finds nothing here";

fn allow(pages: &[&PageOf<'_>], mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut unused = Vec::new();
    let mut allowed = Vec::new();
    for page in pages {
        for annotation in &page.raw.annotations {
            let AnnotationKind::Allow { rule, .. } = &annotation.kind else { continue };
            let is_found_later =
                lock::transaction::RULES.contains(&rule.as_str()) || lock::locked::RULES.contains(&rule.as_str());
            if is_found_later || OF_RUNS.contains(&rule.as_str()) || rule == RELEASE_DIFFERS.name {
                // What these find is known when all statements are, what runs show, or when those of another release have run.
                continue;
            }
            if found.iter().any(|finding| is_allowed_by(finding.rule, rule)) {
                allowed.push(rule.as_str());
                continue;
            }
            let is_lint = rule == OF_SHARDS || all_lints().any(|lint| lint.rule.name == rule);
            let near = || nearest(rule, all_lints().map(|lint| lint.rule.name));
            let (label, help) = if is_lint {
                (NOTHING_FOUND, "remove the line".to_owned())
            } else if find(rule).is_some() {
                ("not a lint", "a difference between the pages is waived by `-- diverges(FACT): reason`".to_owned())
            } else if let Some(near) = near() {
                // It counts as what was meant, so that nothing follows from the slip.
                allowed.push(near);
                ("no such rule", format!("did you mean `-- allow({near}): …`?"))
            } else {
                ("no such rule", "`cargo diglot rules` lists them; a finding has its rule in brackets".to_owned())
            };
            let finding = unused_allow(&page.raw.name, rule, annotation.span, label).help(help);
            // A name that is wrong may be meant for another rule; a lint that finds nothing needs no permission.
            unused.push(if is_lint { finding.fix("delete the line", annotation.span, "") } else { finding });
        }
    }
    found.retain(|finding| !allowed.iter().any(|named| is_allowed_by(finding.rule, named)));
    found.extend(unused);
    found
}

#[cfg(test)]
mod tests;
