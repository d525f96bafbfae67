//! The lints that look at the locks of all statements together.

use std::cell::LazyCell;
use std::collections::BTreeSet;

use super::{lock_order, stale_fence, unbounded_wait};
use crate::config::{Config, Locks, Transactions};
use crate::diagnostic::Diagnostic;
use crate::locks::Graph;
use crate::rule;
use crate::rules::{NOTHING_FOUND, unused_allow};
use crate::schema::Schema;
use crate::source::Span;

/// The rules whose findings depend on what other statements lock.
pub(in crate::rules) const RULES: [&str; 3] =
    [rule::LOCK_ORDER.name, rule::STALE_FENCE.name, rule::UNBOUNDED_WAIT.name];

/// An exception: the statement, the rule, its place.
pub(crate) type Allowed<'a> = (&'a str, &'a str, Span);

/// What the lints of locks find, and exceptions without need.
pub(crate) fn check(
    config: &Config,
    transactions: &Transactions,
    schema: &Schema,
    graph: &Graph,
    allowed: &[Allowed<'_>],
) -> Vec<Diagnostic> {
    let (unsaid, none) = (Locks::default(), Graph::default());
    let (said, graph) = config.locks.as_ref().map_or((&unsaid, &none), |said| (said, graph));
    let allowed: Vec<&Allowed<'_>> = allowed.iter().filter(|(_, rule, _)| RULES.contains(rule)).collect();
    let names = |of: &str| -> BTreeSet<&str> {
        allowed.iter().filter(|(_, rule, _)| *rule == of).map(|(name, ..)| *name).collect()
    };
    let order = lock_order::check(said, schema, graph, &BTreeSet::new());
    let mut found = [order, stale_fence::check(graph), unbounded_wait::check(said, transactions, graph)].concat();
    let is_of = |(name, finding): &(String, Diagnostic), of: (&str, &str)| (name.as_str(), finding.rule) == of;
    // Of a circle one statement is told of, and any of it may be the one to allow.
    let parts = LazyCell::new(|| lock_order::parts(said, graph));
    let mut unused = Vec::new();
    for (name, rule, span) in &allowed {
        let is_needed = found.iter().any(|finding| is_of(finding, (name, rule)))
            || (*rule == rule::LOCK_ORDER.name && parts.contains(name));
        if !is_needed {
            let finding = unused_allow(name, rule, *span, NOTHING_FOUND);
            unused.push(finding.help("remove the line").fix("delete the line", *span, ""));
        }
    }
    let lax = names(rule::LOCK_ORDER.name);
    if !lax.is_empty() {
        found.retain(|(_, finding)| finding.rule != rule::LOCK_ORDER.name);
        found.extend(lock_order::check(said, schema, graph, &lax));
    }
    found.retain(|finding| !allowed.iter().any(|(name, rule, _)| is_of(finding, (name, rule))));
    found.into_iter().map(|(_, finding)| finding).chain(unused).collect()
}
