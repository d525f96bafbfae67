//! Whether a query can give more than one row, as far as keys tell.

use std::collections::BTreeSet;

use super::super::Context;
use super::{bare, folds, read_from, split};
use crate::page::ORDINALITY;
use crate::tree::{Expr, ExprKind, Query, Rows, Select, Source, SourceId, SourceKind};

impl Context<'_> {
    /// Whether nothing keeps a query from giving several rows. Where something is not understood, it is not said.
    pub(in crate::rules) fn may_give_many(&self, query: &Query) -> bool {
        if let Some(limit) = &query.limit {
            return matches!(&limit.kind, ExprKind::Number(text) if text.parse::<u64>().is_ok_and(|rows| rows > 1));
        }
        match &query.rows {
            Rows::Select(select) => self.select_gives_many(select),
            Rows::Values(rows, _) => rows.len() > 1,
            Rows::Query(query) => self.may_give_many(query),
            Rows::Set { .. } => false,
        }
    }

    fn select_gives_many(&self, select: &Select) -> bool {
        if !select.group.is_empty() || folds(select) {
            return false;
        }
        let mut conditions = Vec::new();
        split(select.filter.as_ref(), &mut conditions);
        !self.unpinned(&select.from.iter().collect::<Vec<_>>(), conditions, &[]).is_empty()
    }

    /// The tables among these sources of which several rows may fit: no key of theirs is given by the conditions,
    /// by those of the joins, by sources of which one row fits, and by the columns of which one value is looked at.
    pub(in crate::rules) fn unpinned<'e>(
        &self,
        sources: &[&'e Source],
        mut conditions: Vec<&'e Expr>,
        fixed: &[&Expr],
    ) -> BTreeSet<SourceId> {
        for source in sources {
            split(source.join.as_ref().and_then(|join| join.on.as_ref()), &mut conditions);
        }
        let mut given: Vec<(&Expr, &Expr)> = Vec::new();
        conditions.iter().for_each(|condition| equalities(condition, &mut given));
        let mut open: BTreeSet<SourceId> = sources.iter().map(|source| source.id).collect();
        loop {
            let fits = |source: &&&Source| open.contains(&source.id) && self.is_one(source, &given, fixed, &open);
            let Some(settled) = sources.iter().find(fits).map(|source| source.id) else { break };
            open.remove(&settled);
        }
        open
    }

    /// Whether one row of a source fits at most, given that of all but the open ones.
    fn is_one(&self, source: &Source, given: &[(&Expr, &Expr)], fixed: &[&Expr], open: &BTreeSet<SourceId>) -> bool {
        let is_given = |name: &str| {
            let is_own = |column: &Expr| matches!(&bare(column).kind, ExprKind::Column { source: id, column } if *id == source.id && column == name);
            let mut sides = given.iter().flat_map(|(left, right)| [(*left, *right), (*right, *left)]);
            fixed.iter().any(|column| is_own(column))
                || sides.any(|(column, value)| is_own(column) && !read_from(value).iter().any(|id| open.contains(id)))
        };
        match &source.kind {
            SourceKind::Table(_) => {
                // Nothing is known of what a view shows.
                let Some(table) = self.table(source.id).filter(|table| !table.view) else { return true };
                let mut partial = table.indexes.iter().filter(|index| index.unique);
                table.keys().any(|key| key.iter().all(|name| is_given(name)))
                    || partial.any(|index| index.columns().all(is_given))
            }
            SourceKind::Derived(query) => !self.may_give_many(query),
            SourceKind::Cte(name) => {
                let is_one =
                    |query| !self.may_give_many(query) || source.columns.iter().any(|(name, _)| is_given(name));
                self.cte(name).is_none_or(is_one)
            }
            // No two rows of a call have the same key.
            SourceKind::Rows(_) => self.page.raw.rows().is_some_and(|rows| {
                let mut key = rows.fields.iter().filter(|field| field.key).peekable();
                is_given(ORDINALITY) || key.peek().is_some() && key.all(|field| is_given(&field.name))
            }),
            SourceKind::Function { .. } | SourceKind::Excluded => true,
        }
    }
}

/// A source of which several rows may have one place in the order of a query: no key of it is among these of what sorts. Of
/// groups those sources count that they are made by.
pub(in crate::rules) fn tied<'t>(
    context: &Context<'_>,
    query: &'t Query,
    select: &'t Select,
    keys: &[&Expr],
) -> Option<&'t Source> {
    if select.group.is_empty() && folds(select) {
        return None;
    }
    let mut conditions = Vec::new();
    split(select.filter.as_ref(), &mut conditions);
    let sorts = |group: &Expr| query.order.iter().any(|key| key.expr.is_alike(group));
    if !select.group.is_empty() && select.group.iter().all(sorts) {
        return None;
    }
    let by: BTreeSet<SourceId> = select.group.iter().flat_map(read_from).collect();
    let sources: Vec<_> =
        select.from.iter().filter(|source| select.group.is_empty() || by.contains(&source.id)).collect();
    let open = context.unpinned(&sources, conditions, keys);
    sources.into_iter().find(|source| open.contains(&source.id))
}

/// The equations that a condition demands.
fn equalities<'e>(condition: &'e Expr, found: &mut Vec<(&'e Expr, &'e Expr)>) {
    match &condition.kind {
        ExprKind::Binary { op, left, right } if op == "=" || op == "is not distinct from" => {
            match (&left.kind, &right.kind) {
                (ExprKind::Tuple(left), ExprKind::Tuple(right)) => found.extend(left.iter().zip(right)),
                _ => found.push((left, right)),
            }
        }
        ExprKind::InList { expr, list, negated: false } => {
            if let [only] = list.as_slice() {
                found.push((expr, only));
            }
        }
        _ => {}
    }
}
