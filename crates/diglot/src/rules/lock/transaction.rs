//! What the lints of transactions look at: statements that `-- transaction: NAME` puts into one, in the order of their
//! file.

use std::collections::{BTreeMap, BTreeSet};

use super::{torn_read, unlocked_read};
use crate::diagnostic::Diagnostic;
use crate::infer::PageOf;
use crate::page::AnnotationKind;
use crate::rule;
use crate::rules::look::{asked, conjuncts, folds, selects, sets, tables};
use crate::rules::{NOTHING_FOUND, unused_allow};
use crate::schema::Schema;
use crate::source::Span;
use crate::tree::{Body, Expr, ExprKind, Part, Query, SourceKind};

/// The rules whose findings depend on other statements.
pub(in crate::rules) const RULES: [&str; 2] = [rule::TORN_READ.name, rule::UNLOCKED_READ.name];

/// What a statement of a transaction does to tables.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(in crate::rules) name: String,
    pub(in crate::rules) span: Span,
    /// The transactions that it belongs to.
    within: Vec<String>,
    /// Its exceptions, for these rules.
    allowed: Vec<(String, Span)>,
    /// Tables whose rows it gives without a lock, with the columns outside the key by which it chooses them.
    pub(in crate::rules) unlocked: BTreeMap<String, BTreeSet<String>>,
    /// Tables of which it gives a count or another aggregate.
    pub(in crate::rules) counted: BTreeSet<String>,
    /// Tables that it writes.
    pub(in crate::rules) written: BTreeSet<String>,
    /// Tables that it updates without asking again for a column that it changes.
    pub(in crate::rules) unfenced: BTreeSet<String>,
    /// Tables from which it deletes, with the columns for which it asks.
    pub(in crate::rules) deleted: BTreeMap<String, BTreeSet<String>>,
}

impl Step {
    /// What the Postgres page of a pair does, if it is said to belong to a transaction.
    pub(crate) fn of(page: &PageOf<'_>, facing: &PageOf<'_>) -> Option<Step> {
        let mut step = Step {
            name: page.raw.name.clone(),
            span: page.raw.name_span,
            within: Vec::new(),
            allowed: Vec::new(),
            unlocked: BTreeMap::new(),
            counted: BTreeSet::new(),
            written: BTreeSet::new(),
            unfenced: BTreeSet::new(),
            deleted: BTreeMap::new(),
        };
        for annotation in page.raw.annotations.iter().chain(&facing.raw.annotations) {
            match &annotation.kind {
                AnnotationKind::Transaction { name } if !step.within.contains(name) => step.within.push(name.clone()),
                AnnotationKind::Allow { rule, .. } if RULES.contains(&rule.as_str()) => {
                    step.allowed.push((rule.clone(), annotation.span));
                }
                _ => {}
            }
        }
        if step.within.is_empty() && step.allowed.is_empty() {
            return None;
        }
        page.tree.parts.iter().for_each(|part| step.part(page.schema, part));
        Some(step)
    }

    fn part(&mut self, schema: &Schema, part: &Part) {
        if let Some(SourceKind::Table(table)) = part.target().map(|target| &target.kind) {
            self.written.insert(table.clone());
        }
        match &part.body {
            Body::Query(query) => self.query(schema, query, part),
            Body::Update(update) => {
                let own = |expr: &&Expr| {
                    matches!(&expr.kind, ExprKind::Column { source, column }
                        if *source == update.target.id && sets(update, column))
                };
                let asks = update.filter.iter().flat_map(Expr::exprs).any(|expr| own(&expr));
                // A value made of the row itself is made of the row as it is now.
                let from_itself = update.set.iter().flat_map(|set| set.value.exprs()).any(|expr| own(&expr));
                if let (SourceKind::Table(table), false, false) = (&update.target.kind, asks, from_itself) {
                    self.unfenced.insert(table.clone());
                }
            }
            Body::Delete(delete) => {
                if let SourceKind::Table(table) = &delete.target.kind {
                    self.deleted
                        .entry(table.clone())
                        .or_default()
                        .extend(asked(conjuncts(part), delete.target.id).map(str::to_owned));
                }
            }
            Body::Insert(_) => {}
        }
    }

    fn query(&mut self, schema: &Schema, query: &Query, part: &Part) {
        if !query.locks.is_empty() {
            return;
        }
        let is_folded = selects(part).into_iter().any(folds);
        for (name, source) in tables(query) {
            if is_folded {
                self.counted.insert(name.to_owned());
                continue;
            }
            // The key of a row does not change.
            let key = schema.tables.get(name).map_or(&[][..], |table| table.primary_key.as_slice());
            let by = asked(conjuncts(part), source).map(str::to_owned).filter(|column| !key.contains(column));
            self.unlocked.entry(name.to_owned()).or_default().extend(by);
        }
    }
}

/// What the lints of transactions find, and exceptions without need.
pub(crate) fn check(steps: &[Step]) -> Vec<Diagnostic> {
    let mut by_name: BTreeMap<&str, Vec<&Step>> = BTreeMap::new();
    for step in steps {
        step.within.iter().for_each(|name| by_name.entry(name).or_default().push(step));
    }
    let mut found = Vec::new();
    for steps in by_name.values() {
        unlocked_read::check(steps, &mut found);
        torn_read::check(steps, &mut found);
    }
    let is_of = |finding: &Diagnostic, step: &Step, rule: &str| {
        finding.rule == rule && finding.labels.first().is_some_and(|label| label.span == step.span)
    };
    let allows: Vec<(&Step, &str, Span)> = steps
        .iter()
        .flat_map(|step| step.allowed.iter().map(move |(rule, span)| (step, rule.as_str(), *span)))
        .collect();
    let mut unused = Vec::new();
    for (step, rule, span) in &allows {
        if !found.iter().any(|finding| is_of(finding, step, rule)) {
            unused.push(unused_allow(&step.name, rule, *span, NOTHING_FOUND).help("remove the line"));
        }
    }
    found.retain(|finding| !allows.iter().any(|(step, rule, _)| is_of(finding, step, rule)));
    found.extend(unused);
    found
}
