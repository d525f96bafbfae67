//! The registry of rules: every diagnostic has a rule, every rule has a file with its documentation.
//!
//! A rule's file begins with its text for `cargo diglot explain`: a line that says what is wrong, then what it
//! finds, why it bites, what to write instead, an example. Findings about one statement or pair that no pass
//! needs for its own work are lints; their files also hold the check, and `LINTS` runs it.

mod text;

use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::infer::PageOf;
use crate::page::AnnotationKind;
use crate::tree::{Body, Expr, ExprKind, Part, Query, Rows, Select, SourceKind};

/// A rule as `cargo diglot explain` shows it.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Kebab-case defect name that reads after "allow".
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The whole text: what it finds, why it bites, the text to write instead (Markdown).
    pub doc: &'static str,
}

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
    ambiguous_column = "ambiguous-column",
    answer_differs = "answer-differs",
    bad_config = "bad-config",
    bad_file_name = "bad-file-name",
    bad_header = "bad-header",
    bad_name = "bad-name",
    bad_optional_part = "bad-optional-part",
    cardinality_columns = "cardinality-columns",
    cardinality_differs = "cardinality-differs",
    column_duplicate = "column-duplicate",
    column_order_differs = "column-order-differs",
    column_type_conflict = "column-type-conflict",
    column_type_unknown = "column-type-unknown",
    column_unnamed = "column-unnamed",
    columns_differ = "columns-differ",
    conflict_differs = "conflict-differs",
    distinct_differs = "distinct-differs",
    duplicate_name = "duplicate-name",
    empty_statement = "empty-statement",
    engine_refuses = "engine-refuses",
    group_differs = "group-differs",
    having_differs = "having-differs",
    insert_differs = "insert-differs",
    insert_width = "insert-width",
    join_differs = "join-differs",
    kind_differs = "kind-differs",
    limit_differs = "limit-differs",
    lock_differs = "lock-differs",
    missing_page = "missing-page",
    missing_reason = "missing-reason",
    missing_statement = "missing-statement",
    not_utf8 = "not-utf8",
    null_order = "null-order",
    offset_differs = "offset-differs",
    on_conflict_without_target = "on-conflict-without-target",
    or_replace = "or-replace",
    order_differs = "order-differs",
    param_differs = "param-differs",
    param_type_conflict = "param-type-conflict",
    param_type_unknown = "param-type-unknown",
    params_differ = "params-differ",
    part_missing = "part-missing",
    schema_check_differs = "schema-check-differs",
    schema_column_differs = "schema-column-differs",
    schema_default_differs = "schema-default-differs",
    schema_foreign_key_differs = "schema-foreign-key-differs",
    schema_index_differs = "schema-index-differs",
    schema_key_differs = "schema-key-differs",
    schema_null_differs = "schema-null-differs",
    schema_table_differs = "schema-table-differs",
    schema_type_differs = "schema-type-differs",
    schema_unique_differs = "schema-unique-differs",
    schema_unreadable = "schema-unreadable",
    set_differs = "set-differs",
    set_operation_differs = "set-operation-differs",
    shard_key = "shard-key",
    sql_before_name = "sql-before-name",
    stale_answers = "stale-answers",
    statement_order = "statement-order",
    syntax = "syntax",
    tables_differ = "tables-differ",
    unit_cte_differs = "unit-cte-differs",
    unit_read_after_write = "unit-read-after-write",
    unknown_annotation = "unknown-annotation",
    unknown_column = "unknown-column",
    unknown_constraint = "unknown-constraint",
    unknown_divergence = "unknown-divergence",
    unknown_table = "unknown-table",
    unknown_word = "unknown-word",
    unordered_limit = "unordered-limit",
    unsupported_statement = "unsupported-statement",
    unterminated = "unterminated",
    unused_allow = "unused-allow",
    unused_annotation = "unused-annotation",
    unused_divergence = "unused-divergence",
    unused_only = "unused-only",
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
}

impl Context<'_> {
    /// The statement's name.
    fn name(&self) -> &str {
        &self.page.raw.name
    }
}

/// A lint's check; it adds what it finds.
type Check = fn(&Context<'_>, &mut Vec<Diagnostic>);

/// The lints, which `-- allow(rule): reason` can silence.
const LINTS: &[(&str, Check)] = &[
    ("on-conflict-without-target", on_conflict_without_target::check),
    ("or-replace", or_replace::check),
    ("shard-key", shard_key::check),
    ("unit-read-after-write", unit_read_after_write::check),
    ("unknown-word", unknown_word::check),
    ("unordered-limit", unordered_limit::check),
];

/// The rule of that name.
pub fn find(name: &str) -> Option<&'static Rule> {
    ALL.iter().find(|rule| rule.name == name)
}

/// Runs the lints over a pair, or over a page that stands alone, and drops what `-- allow` lets pass. An
/// `-- allow` on either page holds for both.
pub(crate) fn lint(config: &Config, pages: &[&PageOf<'_>]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (at, page) in pages.iter().enumerate() {
        let facing = pages.iter().enumerate().find(|(other, _)| *other != at).map(|(_, page)| *page);
        let context = Context { config, page, facing };
        LINTS.iter().for_each(|(_, check)| check(&context, &mut found));
    }
    allow(pages, found)
}

fn allow(pages: &[&PageOf<'_>], mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut unused = Vec::new();
    let mut allowed = Vec::new();
    for page in pages {
        for annotation in &page.raw.annotations {
            let AnnotationKind::Allow { rule, .. } = &annotation.kind else { continue };
            if found.iter().any(|finding| finding.rule == rule) {
                allowed.push(rule.as_str());
                continue;
            }
            let message = format!("{}: `-- allow({rule})` has nothing to allow", page.raw.name);
            let (label, help) = if LINTS.iter().any(|(name, _)| name == rule) {
                ("the rule finds nothing here", "remove the line".to_owned())
            } else if find(rule).is_some() {
                ("not a lint", "a difference between the pages is waived by `-- diverges(FACT): reason`".to_owned())
            } else {
                let names: Vec<&str> = LINTS.iter().map(|(name, _)| *name).collect();
                ("no such rule", format!("the lints are: {}", names.join(", ")))
            };
            let finding = Diagnostic::error("unused-allow", message, annotation.span, label).help(help);
            // A name that is wrong may be meant for another rule; a lint that finds nothing needs no permission.
            let idle = LINTS.iter().any(|(name, _)| name == rule);
            unused.push(if idle { finding.fix("delete the line", annotation.span, "") } else { finding });
        }
    }
    found.retain(|finding| !allowed.contains(&finding.rule));
    found.extend(unused);
    found
}

/// Every query of a part: its own and those inside it.
fn queries(part: &Part) -> Vec<&Query> {
    let mut queries = Vec::new();
    match &part.body {
        Body::Query(query) => queries.push(query),
        Body::Insert(insert) => queries.push(&insert.rows),
        Body::Update(_) | Body::Delete(_) => {}
    }
    for source in part.sources() {
        if let SourceKind::Derived(query) = &source.kind {
            queries.push(query);
        }
    }
    for expr in part.exprs() {
        match &expr.kind {
            ExprKind::InQuery { query, .. } | ExprKind::Exists { query, .. } | ExprKind::Scalar(query) => {
                queries.push(query);
            }
            _ => {}
        }
    }
    let mut at = 0;
    while at < queries.len() {
        let query = queries[at];
        queries.extend(query.ctes.iter().map(|(_, query)| query));
        inner(&query.rows, &mut queries);
        at += 1;
    }
    queries
}

/// Queries in parentheses.
fn inner<'t>(rows: &'t Rows, queries: &mut Vec<&'t Query>) {
    match rows {
        Rows::Query(query) => queries.push(query),
        Rows::Set { left, right, .. } => {
            inner(left, queries);
            inner(right, queries);
        }
        Rows::Select(_) | Rows::Values(..) => {}
    }
}

/// Every condition of a part that must hold for a row to count: conjuncts of WHERE and of ON, at every depth.
fn conjuncts(part: &Part) -> Vec<&Expr> {
    let mut found = Vec::new();
    match &part.body {
        Body::Update(update) => split(update.filter.as_ref(), &mut found),
        Body::Delete(delete) => split(delete.filter.as_ref(), &mut found),
        Body::Query(_) | Body::Insert(_) => {}
    }
    for source in part.sources() {
        split(source.join.as_ref().and_then(|join| join.on.as_ref()), &mut found);
    }
    let mut selects = Vec::new();
    queries(part).into_iter().for_each(|query| branches(&query.rows, &mut selects));
    selects.into_iter().for_each(|select| split(select.filter.as_ref(), &mut found));
    found
}

fn branches<'t>(rows: &'t Rows, selects: &mut Vec<&'t Select>) {
    match rows {
        Rows::Select(select) => selects.push(select),
        Rows::Set { left, right, .. } => {
            branches(left, selects);
            branches(right, selects);
        }
        Rows::Values(..) | Rows::Query(_) => {}
    }
}

fn split<'t>(filter: Option<&'t Expr>, found: &mut Vec<&'t Expr>) {
    let Some(filter) = filter else { return };
    match &filter.kind {
        ExprKind::Binary { op, left, right } if op == "and" => {
            split(Some(left), found);
            split(Some(right), found);
        }
        _ => found.push(filter),
    }
}

#[cfg(test)]
mod tests;
