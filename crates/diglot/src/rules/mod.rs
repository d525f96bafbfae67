//! The registry of rules: every diagnostic has a rule, every rule has a file with its documentation.
//!
//! A rule's file begins with its text for `cargo diglot explain`: a line that says what is wrong, then what it
//! finds, why it bites, what to write instead, an example. Findings about one statement or pair that no pass
//! needs for its own work are lints; their files also hold the check, and `LINTS` runs it.

pub(crate) mod locked;
mod look;
mod moving;
mod shards;
pub(crate) mod transaction;

use std::collections::BTreeMap;

use self::look::Word;
use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::infer::{PageOf, Param, Signature};
use crate::names::nearest;
use crate::page::AnnotationKind;
pub use crate::rule::Rule;
use crate::rule::text;
use crate::source::Sources;
use crate::tree::{Expr, Source, SourceId};

/// Declares the rules' modules and lists them; summary and text are the head of each file.
macro_rules! rules {
    ($($module:ident = $name:literal,)*) => {
        $(mod $module;)*

        /// All rules by name.
        pub const ALL: &[Rule] = &[$({
            const SOURCE: &str = include_str!(concat!(stringify!($module), ".rs"));
            const SUMMARY: [u8; text::summary_length(SOURCE)] = text::summary(SOURCE);
            const DOC: [u8; text::doc_length(SOURCE)] = text::doc(SOURCE);
            Rule { name: $name, summary: text::as_text(&SUMMARY), doc: text::as_text(&DOC) }
        }),*];
    };
}

rules! {
    absence_guard = "absence-guard",
    added_not_null = "added-not-null",
    alias_shadows = "alias-shadows",
    ambiguous_column = "ambiguous-column",
    answer_differs = "answer-differs",
    bad_baseline = "bad-baseline",
    bad_config = "bad-config",
    bad_file_name = "bad-file-name",
    bad_guard = "bad-guard",
    bad_header = "bad-header",
    bad_name = "bad-name",
    bad_optional_part = "bad-optional-part",
    bad_prelude = "bad-prelude",
    built_text = "built-text",
    cardinality_columns = "cardinality-columns",
    cardinality_differs = "cardinality-differs",
    cast_length = "cast-length",
    cast_width = "cast-width",
    checked_delta = "checked-delta",
    claim_waits = "claim-waits",
    column_case = "column-case",
    column_duplicate = "column-duplicate",
    column_order_differs = "column-order-differs",
    column_type_conflict = "column-type-conflict",
    column_type_unknown = "column-type-unknown",
    column_unnamed = "column-unnamed",
    columns_differ = "columns-differ",
    conflict_differs = "conflict-differs",
    conflict_target = "conflict-target",
    counted_guard = "counted-guard",
    decimal_as_text = "decimal-as-text",
    distinct_differs = "distinct-differs",
    divided_by_zero = "divided-by-zero",
    duplicate_name = "duplicate-name",
    empty_statement = "empty-statement",
    endless_recursion = "endless-recursion",
    engine_refuses = "engine-refuses",
    enum_order = "enum-order",
    epoch_text = "epoch-text",
    explicit_number = "explicit-number",
    format_directive = "format-directive",
    function_on_shards = "function-on-shards",
    group_bare_column = "group-bare-column",
    group_differs = "group-differs",
    half_rounded = "half-rounded",
    having_differs = "having-differs",
    huge_number = "huge-number",
    id_cursor = "id-cursor",
    insert_by_way = "insert-by-way",
    insert_differs = "insert-differs",
    insert_in_with = "insert-in-with",
    insert_width = "insert-width",
    int_real_comparison = "int-real-comparison",
    join_differs = "join-differs",
    json_compared = "json-compared",
    key_collation = "key-collation",
    key_shift = "key-shift",
    key_without_shard = "key-without-shard",
    kind_differs = "kind-differs",
    like_backslash = "like-backslash",
    like_case = "like-case",
    limit_differs = "limit-differs",
    limit_without_number = "limit-without-number",
    local_time = "local-time",
    local_with_shards = "local-with-shards",
    lock_differs = "lock-differs",
    lock_on_shards = "lock-on-shards",
    lock_order = "lock-order",
    merge_conflict = "merge-conflict",
    missing_folder = "missing-folder",
    missing_function = "missing-function",
    missing_page = "missing-page",
    missing_reason = "missing-reason",
    missing_statement = "missing-statement",
    mixed_types = "mixed-types",
    moving_function = "moving-function",
    narrow_arithmetic = "narrow-arithmetic",
    narrow_column = "narrow-column",
    negative_substr = "negative-substr",
    nested_comment = "nested-comment",
    next_number = "next-number",
    not_strict = "not-strict",
    not_utf8 = "not-utf8",
    null_document = "null-document",
    null_key = "null-key",
    null_order = "null-order",
    nullable_key = "nullable-key",
    number_joined = "number-joined",
    offset_differs = "offset-differs",
    on_conflict_without_target = "on-conflict-without-target",
    or_replace = "or-replace",
    order_by_param = "order-by-param",
    order_differs = "order-differs",
    param_differs = "param-differs",
    param_order_differs = "param-order-differs",
    param_type_conflict = "param-type-conflict",
    param_type_unknown = "param-type-unknown",
    params_differ = "params-differ",
    part_missing = "part-missing",
    real_in_document = "real-in-document",
    real_into_integer = "real-into-integer",
    reference_across_shards = "reference-across-shards",
    refused_by_postgres = "refused-by-postgres",
    refused_by_sqlite = "refused-by-sqlite",
    refused_types = "refused-types",
    results_differ = "results-differ",
    returning_reads_target = "returning-reads-target",
    same_name_function = "same-name-function",
    scalar_many = "scalar-many",
    schema_check_differs = "schema-check-differs",
    schema_column_differs = "schema-column-differs",
    schema_default_differs = "schema-default-differs",
    schema_foreign_key_differs = "schema-foreign-key-differs",
    schema_index_differs = "schema-index-differs",
    schema_key_differs = "schema-key-differs",
    schema_null_differs = "schema-null-differs",
    schema_refused = "schema-refused",
    schema_table_differs = "schema-table-differs",
    schema_type_differs = "schema-type-differs",
    schema_unique_differs = "schema-unique-differs",
    schema_unreadable = "schema-unreadable",
    schema_words_differ = "schema-words-differ",
    set_differs = "set-differs",
    set_operation_differs = "set-operation-differs",
    shard_key = "shard-key",
    shard_key_set = "shard-key-set",
    shard_key_type = "shard-key-type",
    shards_differ = "shards-differ",
    shift_count = "shift-count",
    sql_before_name = "sql-before-name",
    stale_answers = "stale-answers",
    stale_fence = "stale-fence",
    stale_write = "stale-write",
    statement_order = "statement-order",
    syntax = "syntax",
    tables_differ = "tables-differ",
    text_as_number = "text-as-number",
    text_into_number = "text-into-number",
    text_order = "text-order",
    time_format = "time-format",
    torn_read = "torn-read",
    trigger_on_shards = "trigger-on-shards",
    trigger_writes_own_table = "trigger-writes-own-table",
    unbounded_wait = "unbounded-wait",
    unchecked_flag = "unchecked-flag",
    unchecked_json = "unchecked-json",
    unchecked_uuid = "unchecked-uuid",
    unit_cte_differs = "unit-cte-differs",
    unit_read_after_write = "unit-read-after-write",
    unknown_annotation = "unknown-annotation",
    unknown_column = "unknown-column",
    unknown_constraint = "unknown-constraint",
    unknown_divergence = "unknown-divergence",
    unknown_operation = "unknown-operation",
    unknown_table = "unknown-table",
    unknown_word = "unknown-word",
    unlocked_claim = "unlocked-claim",
    unlocked_fence = "unlocked-fence",
    unlocked_read = "unlocked-read",
    unmatched_rows = "unmatched-rows",
    unordered_limit = "unordered-limit",
    unordered_set = "unordered-set",
    unsupported_statement = "unsupported-statement",
    unterminated = "unterminated",
    untyped_null_test = "untyped-null-test",
    unused_allow = "unused-allow",
    unused_annotation = "unused-annotation",
    unused_baseline = "unused-baseline",
    unused_divergence = "unused-divergence",
    unused_only = "unused-only",
    update_from_many = "update-from-many",
    update_reads_target = "update-reads-target",
    upsert_twice = "upsert-twice",
    value_as_text = "value-as-text",
    where_differs = "where-differs",
    wrong_only = "wrong-only",
}

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
        Context { config, page, facing, params, exprs: page.tree.exprs(), by_id, tokens: look::tokens(sources, page) }
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
    name: &'static str,
    check: Check,
    /// Whether it says nothing of a place of which another one does, and one thing of each.
    yields: bool,
}

impl Lint {
    const fn new(name: &'static str, check: Check) -> Self {
        Self { name, check, yields: false }
    }

    /// One whose findings follow from what others find in the same place.
    const fn yielding(name: &'static str, check: Check) -> Self {
        Self { name, check, yields: true }
    }
}

/// The lints, which `-- allow(rule): reason` can silence.
const LINTS: &[Lint] = &[
    Lint::new("absence-guard", absence_guard::check),
    Lint::new("alias-shadows", alias_shadows::check),
    Lint::new("bad-guard", bad_guard::check),
    Lint::new("cast-length", cast_length::check),
    Lint::new("cast-width", cast_width::check),
    Lint::new("checked-delta", checked_delta::check),
    Lint::new("claim-waits", claim_waits::check),
    Lint::new("column-case", column_case::check),
    Lint::new("conflict-target", conflict_target::check),
    Lint::new("counted-guard", counted_guard::check),
    Lint::new("decimal-as-text", decimal_as_text::check),
    Lint::new("divided-by-zero", divided_by_zero::check),
    Lint::new("endless-recursion", endless_recursion::check),
    Lint::new("enum-order", enum_order::check),
    Lint::new("epoch-text", epoch_text::check),
    Lint::new("explicit-number", explicit_number::check),
    Lint::new("format-directive", format_directive::check),
    Lint::new("function-on-shards", function_on_shards::check),
    Lint::new("group-bare-column", group_bare_column::check),
    Lint::new("half-rounded", half_rounded::check),
    Lint::new("huge-number", huge_number::check),
    Lint::new("id-cursor", id_cursor::check),
    Lint::new("insert-by-way", insert_by_way::check),
    Lint::new("insert-in-with", insert_in_with::check),
    Lint::new("int-real-comparison", int_real_comparison::check),
    Lint::new("json-compared", json_compared::check),
    Lint::new("key-shift", key_shift::check),
    Lint::new("like-backslash", like_backslash::check),
    Lint::new("like-case", like_case::check),
    Lint::new("limit-without-number", limit_without_number::check),
    Lint::new("local-time", local_time::check),
    Lint::new("local-with-shards", local_with_shards::check),
    Lint::new("lock-on-shards", lock_on_shards::check),
    Lint::new("missing-function", missing_function::check),
    Lint::new("mixed-types", mixed_types::check),
    Lint::new("moving-function", moving_function::check),
    Lint::new("narrow-arithmetic", narrow_arithmetic::check),
    Lint::new("negative-substr", negative_substr::check),
    Lint::new("nested-comment", nested_comment::check),
    Lint::new("next-number", next_number::check),
    Lint::new("null-document", null_document::check),
    Lint::new("null-key", null_key::check),
    Lint::new("number-joined", number_joined::check),
    Lint::new("on-conflict-without-target", on_conflict_without_target::check),
    Lint::new("or-replace", or_replace::check),
    Lint::new("order-by-param", order_by_param::check),
    Lint::new("real-in-document", real_in_document::check),
    Lint::new("real-into-integer", real_into_integer::check),
    Lint::new("refused-by-postgres", refused_by_postgres::check),
    Lint::new("refused-by-sqlite", refused_by_sqlite::check),
    Lint::yielding("refused-types", refused_types::check),
    Lint::new("returning-reads-target", returning_reads_target::check),
    Lint::new("same-name-function", same_name_function::check),
    Lint::new("scalar-many", scalar_many::check),
    Lint::new("shard-key", shard_key::check),
    Lint::new("shard-key-set", shard_key_set::check),
    Lint::new("shards-differ", shards_differ::check),
    Lint::new("shift-count", shift_count::check),
    Lint::new("stale-write", stale_write::check),
    Lint::new("text-as-number", text_as_number::check),
    Lint::new("text-into-number", text_into_number::check),
    Lint::new("text-order", text_order::check),
    Lint::new("time-format", time_format::check),
    Lint::new("unit-read-after-write", unit_read_after_write::check),
    Lint::new("unknown-operation", unknown_operation::check),
    Lint::new("unknown-word", unknown_word::check),
    Lint::new("unlocked-claim", unlocked_claim::check),
    Lint::new("unlocked-fence", unlocked_fence::check),
    Lint::new("unordered-limit", unordered_limit::check),
    Lint::new("unordered-set", unordered_set::check),
    Lint::new("untyped-null-test", untyped_null_test::check),
    Lint::new("update-from-many", update_from_many::check),
    Lint::new("update-reads-target", update_reads_target::check),
    Lint::new("upsert-twice", upsert_twice::check),
    Lint::new("value-as-text", value_as_text::check),
];

/// Every way in which two texts mean the same, with its text for `cargo diglot explain`.
pub use crate::normal::EQUIVALENCES;

/// The rule of that name.
pub fn find(name: &str) -> Option<&'static Rule> {
    ALL.iter().find(|rule| rule.name == name)
}

/// The names of the rules that `-- allow` may name.
pub(crate) fn allowed() -> impl Iterator<Item = &'static str> {
    LINTS.iter().map(|lint| lint.name).chain(transaction::RULES).chain(locked::RULES)
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
        LINTS.iter().for_each(|lint| (lint.check)(&context, &mut found));
    }
    one_per_cause(&mut found);
    allow(pages, found)
}

/// Leaves out what a yielding lint says of a place of which another one says more.
fn one_per_cause(found: &mut Vec<Diagnostic>) {
    let place = |finding: &Diagnostic| finding.labels.first().map(|label| label.span);
    let yields = |finding: &Diagnostic| LINTS.iter().any(|lint| lint.yields && lint.name == finding.rule);
    let of_others: Vec<_> = found.iter().filter(|finding| !yields(finding)).map(place).collect();
    let mut said = Vec::new();
    found.retain(|finding| {
        let at = place(finding);
        let again = yields(finding) && (of_others.contains(&at) || said.contains(&at));
        said.push(at);
        !again
    });
}

fn allow(pages: &[&PageOf<'_>], mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut unused = Vec::new();
    let mut allowed = Vec::new();
    for page in pages {
        for annotation in &page.raw.annotations {
            let AnnotationKind::Allow { rule, .. } = &annotation.kind else { continue };
            if transaction::RULES.contains(&rule.as_str()) || locked::RULES.contains(&rule.as_str()) {
                // What these find is known when all statements are.
                continue;
            }
            if found.iter().any(|finding| finding.rule == rule) {
                allowed.push(rule.as_str());
                continue;
            }
            let message = format!("{}: `-- allow({rule})` has nothing to allow", page.raw.name);
            let near = || nearest(rule, LINTS.iter().map(|lint| lint.name));
            let (label, help) = if LINTS.iter().any(|lint| lint.name == rule) {
                ("the rule finds nothing here", "remove the line".to_owned())
            } else if find(rule).is_some() {
                ("not a lint", "a difference between the pages is waived by `-- diverges(FACT): reason`".to_owned())
            } else if let Some(near) = near() {
                // It counts as what was meant, so that nothing follows from the slip.
                allowed.push(near);
                ("no such rule", format!("did you mean `-- allow({near}): …`?"))
            } else {
                ("no such rule", "`cargo diglot rules` lists them; a finding has its rule in brackets".to_owned())
            };
            let finding = Diagnostic::error("unused-allow", message, annotation.span, label).help(help);
            // A name that is wrong may be meant for another rule; a lint that finds nothing needs no permission.
            let idle = LINTS.iter().any(|lint| lint.name == rule);
            unused.push(if idle { finding.fix("delete the line", annotation.span, "") } else { finding });
        }
    }
    found.retain(|finding| !allowed.contains(&finding.rule));
    found.extend(unused);
    found
}

#[cfg(test)]
mod tests;
