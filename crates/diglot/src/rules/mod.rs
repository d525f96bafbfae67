//! The registry of rules: every diagnostic has a rule, every rule has a file with its documentation.
//!
//! A rule's file begins with its text for `cargo diglot explain`: a line that says what is wrong, then what it
//! finds, why it bites, what to write instead, an example. Findings about one statement or pair that no pass
//! needs for its own work are lints; their files also hold the check, and `LINTS` runs it.

mod absence_guard;
mod alias_shadows;
mod bad_guard;
mod case_operand;
mod cast_length;
mod cast_width;
mod checked_delta;
mod claim_waits;
mod coarse_time;
mod column_case;
mod conflict_target;
mod counted_guard;
mod decimal_as_text;
mod divided_by_zero;
mod endless_recursion;
mod enum_order;
mod epoch_text;
mod exact_quotient;
mod explicit_number;
mod format_directive;
mod function_on_shards;
mod group_bare_column;
mod half_rounded;
mod huge_number;
mod id_cursor;
mod in_steps;
mod insert_by_way;
mod insert_in_with;
mod int_real_comparison;
mod json_compared;
mod key_shift;
mod like_backslash;
mod like_case;
mod limit_ties;
mod limit_without_number;
mod limited_subquery;
mod local_time;
mod local_with_shards;
mod lock_on_shards;
mod lock_order;
pub(crate) mod locked;
mod look;
mod lost_rows;
mod missing_function;
mod mixed_types;
mod moving;
mod moving_function;
mod narrow_arithmetic;
mod narrow_real;
mod negative_substr;
mod nested_comment;
mod next_number;
mod null_document;
mod null_key;
mod number_joined;
mod on_conflict_without_target;
mod or_replace;
mod order_by_param;
mod page_ties;
mod real_in_document;
mod real_into_integer;
mod refused_by_postgres;
mod refused_by_sqlite;
mod refused_types;
mod returning_reads_target;
mod same_name_function;
mod scalar_many;
mod shard_key;
mod shard_key_set;
mod shards;
mod shards_differ;
mod shift_count;
mod stale_fence;
mod stale_write;
mod text_as_number;
mod text_into_number;
mod text_order;
mod time_format;
mod time_out_of_range;
mod torn_read;
pub(crate) mod transaction;
mod unbounded_wait;
mod unit_read_after_write;
mod unknown_operation;
mod unknown_word;
mod unlocked_claim;
mod unlocked_fence;
mod unlocked_read;
mod unordered_limit;
mod unordered_set;
mod unordered_texts;
mod untyped_null_test;
mod untyped_parameter;
mod update_from_many;
mod update_reads_target;
mod upsert_twice;
mod value_as_text;
mod weak_lock;

use std::collections::BTreeMap;

pub(crate) use self::in_steps::in_steps;
use self::look::Word;
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

impl Lint {
    const fn new(rule: Rule, check: Check) -> Self {
        Self { rule, check, yields: false }
    }

    /// One whose findings follow from what others find in the same place.
    const fn yielding(rule: Rule, check: Check) -> Self {
        Self { rule, check, yields: true }
    }
}

/// The lints, which `-- allow(rule): reason` can silence.
const LINTS: &[Lint] = &[
    Lint::new(rule::ABSENCE_GUARD, absence_guard::check),
    Lint::new(rule::ALIAS_SHADOWS, alias_shadows::check),
    Lint::new(rule::BAD_GUARD, bad_guard::check),
    Lint::new(rule::CAST_LENGTH, cast_length::check),
    Lint::new(rule::CAST_WIDTH, cast_width::check),
    Lint::new(rule::CHECKED_DELTA, checked_delta::check),
    Lint::new(rule::CLAIM_WAITS, claim_waits::check),
    Lint::new(rule::COARSE_TIME, coarse_time::check),
    Lint::new(rule::COLUMN_CASE, column_case::check),
    Lint::new(rule::CONFLICT_TARGET, conflict_target::check),
    Lint::new(rule::COUNTED_GUARD, counted_guard::check),
    Lint::new(rule::DECIMAL_AS_TEXT, decimal_as_text::check),
    Lint::new(rule::DIVIDED_BY_ZERO, divided_by_zero::check),
    Lint::new(rule::ENDLESS_RECURSION, endless_recursion::check),
    Lint::new(rule::ENUM_ORDER, enum_order::check),
    Lint::new(rule::EPOCH_TEXT, epoch_text::check),
    Lint::new(rule::EXACT_QUOTIENT, exact_quotient::check),
    Lint::new(rule::EXPLICIT_NUMBER, explicit_number::check),
    Lint::new(rule::FORMAT_DIRECTIVE, format_directive::check),
    Lint::new(rule::FUNCTION_ON_SHARDS, function_on_shards::check),
    Lint::new(rule::GROUP_BARE_COLUMN, group_bare_column::check),
    Lint::new(rule::HALF_ROUNDED, half_rounded::check),
    Lint::new(rule::HUGE_NUMBER, huge_number::check),
    Lint::new(rule::ID_CURSOR, id_cursor::check),
    Lint::new(rule::INSERT_BY_WAY, insert_by_way::check),
    Lint::new(rule::INSERT_IN_WITH, insert_in_with::check),
    Lint::new(rule::INT_REAL_COMPARISON, int_real_comparison::check),
    Lint::new(rule::JSON_COMPARED, json_compared::check),
    Lint::new(rule::KEY_SHIFT, key_shift::check),
    Lint::new(rule::LIKE_BACKSLASH, like_backslash::check),
    Lint::new(rule::LIKE_CASE, like_case::check),
    Lint::new(rule::LIMIT_TIES, limit_ties::check),
    Lint::new(rule::LIMIT_WITHOUT_NUMBER, limit_without_number::check),
    Lint::new(rule::LIMITED_SUBQUERY, limited_subquery::check),
    Lint::new(rule::LOCAL_TIME, local_time::check),
    Lint::new(rule::LOCAL_WITH_SHARDS, local_with_shards::check),
    Lint::new(rule::LOCK_ON_SHARDS, lock_on_shards::check),
    Lint::new(rule::LOST_ROWS, lost_rows::check),
    Lint::new(rule::MISSING_FUNCTION, missing_function::check),
    Lint::new(rule::MIXED_TYPES, mixed_types::check),
    Lint::new(rule::CASE_OPERAND, case_operand::check),
    Lint::new(rule::MOVING_FUNCTION, moving_function::check),
    Lint::new(rule::NARROW_ARITHMETIC, narrow_arithmetic::check),
    Lint::new(rule::NARROW_REAL, narrow_real::check),
    Lint::new(rule::NEGATIVE_SUBSTR, negative_substr::check),
    Lint::new(rule::NESTED_COMMENT, nested_comment::check),
    Lint::new(rule::NEXT_NUMBER, next_number::check),
    Lint::new(rule::NULL_DOCUMENT, null_document::check),
    Lint::new(rule::NULL_KEY, null_key::check),
    Lint::new(rule::NUMBER_JOINED, number_joined::check),
    Lint::new(rule::ON_CONFLICT_WITHOUT_TARGET, on_conflict_without_target::check),
    Lint::new(rule::OR_REPLACE, or_replace::check),
    Lint::new(rule::ORDER_BY_PARAM, order_by_param::check),
    Lint::new(rule::PAGE_TIES, page_ties::check),
    Lint::new(rule::REAL_IN_DOCUMENT, real_in_document::check),
    Lint::new(rule::REAL_INTO_INTEGER, real_into_integer::check),
    Lint::new(rule::REFUSED_BY_POSTGRES, refused_by_postgres::check),
    Lint::new(rule::REFUSED_BY_SQLITE, refused_by_sqlite::check),
    Lint::yielding(rule::REFUSED_TYPES, refused_types::check),
    Lint::new(rule::RETURNING_READS_TARGET, returning_reads_target::check),
    Lint::new(rule::SAME_NAME_FUNCTION, same_name_function::check),
    Lint::new(rule::SCALAR_MANY, scalar_many::check),
    Lint::new(rule::SHARD_KEY, shard_key::check),
    Lint::new(rule::SHARD_KEY_SET, shard_key_set::check),
    Lint::new(rule::SHARDS_DIFFER, shards_differ::check),
    Lint::new(rule::SHIFT_COUNT, shift_count::check),
    Lint::new(rule::STALE_WRITE, stale_write::check),
    Lint::new(rule::TEXT_AS_NUMBER, text_as_number::check),
    Lint::new(rule::TEXT_INTO_NUMBER, text_into_number::check),
    Lint::new(rule::TEXT_ORDER, text_order::check),
    Lint::new(rule::TIME_FORMAT, time_format::check),
    Lint::new(rule::TIME_OUT_OF_RANGE, time_out_of_range::check),
    Lint::new(rule::UNIT_READ_AFTER_WRITE, unit_read_after_write::check),
    Lint::new(rule::UNKNOWN_OPERATION, unknown_operation::check),
    Lint::new(rule::UNKNOWN_WORD, unknown_word::check),
    Lint::new(rule::UNLOCKED_CLAIM, unlocked_claim::check),
    Lint::new(rule::UNLOCKED_FENCE, unlocked_fence::check),
    Lint::new(rule::UNORDERED_LIMIT, unordered_limit::check),
    Lint::new(rule::UNORDERED_SET, unordered_set::check),
    Lint::new(rule::UNORDERED_TEXTS, unordered_texts::check),
    Lint::new(rule::UNTYPED_NULL_TEST, untyped_null_test::check),
    Lint::new(rule::UNTYPED_PARAMETER, untyped_parameter::check),
    Lint::new(rule::UPDATE_FROM_MANY, update_from_many::check),
    Lint::new(rule::UPDATE_READS_TARGET, update_reads_target::check),
    Lint::new(rule::UPSERT_TWICE, upsert_twice::check),
    Lint::new(rule::VALUE_AS_TEXT, value_as_text::check),
    Lint::new(rule::WEAK_LOCK, weak_lock::check),
];

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
    rule == named || named == OF_SHARDS && in_steps::is_about_shards(rule)
}

/// The names of the rules that `-- allow` may name.
pub fn allowed() -> impl Iterator<Item = &'static str> {
    LINTS.iter().map(|lint| lint.rule.name).chain(transaction::RULES).chain(locked::RULES).chain(OF_RUNS)
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
        LINTS.iter().for_each(|lint| (lint.check)(&context, &mut own));
        in_steps::settle(sources, config, pages, page, &mut own);
        found.extend(own);
    }
    one_per_cause(&mut found);
    allow(pages, found)
}

/// Leaves out what a yielding lint says of a place of which another one says more.
fn one_per_cause(found: &mut Vec<Diagnostic>) {
    let place = |finding: &Diagnostic| finding.labels.first().map(|label| label.span);
    let yields = |finding: &Diagnostic| LINTS.iter().any(|lint| lint.yields && lint.rule.name == finding.rule);
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
            let is_found_later = transaction::RULES.contains(&rule.as_str()) || locked::RULES.contains(&rule.as_str());
            if is_found_later || OF_RUNS.contains(&rule.as_str()) || rule == RELEASE_DIFFERS.name {
                // What these find is known when all statements are, what runs show, or when those of another release have run.
                continue;
            }
            if found.iter().any(|finding| is_allowed_by(finding.rule, rule)) {
                allowed.push(rule.as_str());
                continue;
            }
            let is_lint = rule == OF_SHARDS || LINTS.iter().any(|lint| lint.rule.name == rule);
            let near = || nearest(rule, LINTS.iter().map(|lint| lint.rule.name));
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
