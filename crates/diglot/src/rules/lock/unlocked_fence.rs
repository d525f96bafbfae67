//! A write depends on a condition that was asked without a lock.

use crate::rules::Context;
use crate::rules::look::{asked, branches, split, tables};
use super::unlocked_claim::asks_again;
use super::weak_lock::KEY_ALONE;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Body, Expr, Part, Query, Source, SourceId, Update};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for part in &context.page.tree.parts {
        let Body::Update(update) = &part.body else { continue };
        let Some(target) = update.target.table() else { continue };
        if asks_again(update) {
            continue;
        }
        // Of rows that a LIMIT has picked `unlocked-claim` tells.
        let is_loose =
            |query: &&Query| query.locks.iter().all(|lock| lock.strength == KEY_ALONE) && query.limit.is_none();
        let fences = needed(part).into_iter().filter_map(|name| context.cte(name)).filter(is_loose);
        let open = fences.into_iter().find_map(|query| {
            let own: Vec<SourceId> =
                tables(query).into_iter().filter(|(name, _)| *name == target).map(|(_, id)| id).collect();
            let key = context.target(part).map_or(&[][..], |table| &table.primary_key);
            let kept = |column: &str| key.iter().any(|name| name == column) || kept_by(update).contains(&column);
            conditions(query).into_iter().find(|condition| asks_for(condition, &own, &kept))
        });
        if let Some(condition) = open {
            let message = format!("{}: `{target}` is changed under a condition asked without a lock", context.name());
            let finding =
                Diagnostic::error(rule::UNLOCKED_FENCE, message, condition.span, "may hold no more when it is changed");
            found.push(
                finding
                    .context(update.target.span, "changed here")
                    .help("write FOR UPDATE in the CTE, or the condition in the UPDATE too"),
            );
        }
    }
}

/// The CTEs that a part reads.
fn needed(part: &Part) -> Vec<&str> {
    part.sources().into_iter().filter_map(Source::cte).collect()
}

/// The conditions that every row of a query fulfils.
fn conditions(query: &Query) -> Vec<&Expr> {
    let (mut selects, mut found) = (Vec::new(), Vec::new());
    branches(&query.rows, &mut selects);
    selects.into_iter().for_each(|select| split(select.filter.as_ref(), &mut found));
    found
}

/// The columns that the UPDATE's own WHERE asks for.
fn kept_by(update: &Update) -> Vec<&str> {
    let conditions = update.filter.iter().flat_map(Expr::conjuncts).filter(|condition| condition.subquery().is_none());
    asked(conditions, update.target.id).collect()
}

/// Whether a condition is about a column of a source that nothing keeps as it was.
fn asks_for(condition: &Expr, own: &[SourceId], kept: &impl Fn(&str) -> bool) -> bool {
    own.iter().any(|source| asked([condition], *source).any(|column| !kept(column)))
}
