//! Rows that a write hands over, and rows that are read by its conditions.

use std::collections::BTreeSet;

use super::{Head, Names, Node, Op, effective_join, writing_part};
use crate::dialect::Dialect;
use crate::tree::{Body, ConflictAction, Expr, ExprKind, Insert, JoinKind, Rows, Source, Statement};

/// The tables of a SQLite unit that are read in other statements than the one that writes them.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// Those of which rows are deleted after every read.
    deleted_after: BTreeSet<String>,
    /// Those into which an upsert writes before every read.
    written_before: BTreeSet<String>,
}

impl Order {
    pub(crate) fn of(page: &Statement) -> Order {
        let mut order = Order::default();
        for (at, part) in page.parts.iter().enumerate() {
            let Some(name) = part.target().and_then(Source::table) else { continue };
            let (mut places, mut is_only) = (Vec::new(), true);
            for (_, other) in page.parts.iter().enumerate().filter(|(other, _)| *other != at) {
                if other.sources().into_iter().any(|source| source.table() == Some(name)) {
                    is_only &= other.target().and_then(Source::table) != Some(name);
                    places.push(other.statement);
                }
            }
            if !is_only || places.is_empty() {
                continue;
            }
            match &part.body {
                Body::Delete(_) if places.iter().all(|place| *place < part.statement) => {
                    order.deleted_after.insert(name.to_owned());
                }
                Body::Insert(_) if places.iter().all(|place| *place > part.statement) => {
                    order.written_before.insert(name.to_owned());
                }
                _ => {}
            }
        }
        order
    }
}

/// What a source means that is a CTE of Postgres that writes.
pub(crate) struct Handed<'t> {
    /// The condition of the rows, where they were deleted, or of those from which they were inserted.
    pub(crate) filter: Option<&'t Expr>,
    /// The sources from which they were inserted.
    pub(crate) sources: Vec<Source>,
    /// The key that they were given.
    pub(crate) key: Vec<Node>,
}

impl<'t> Names<'t> {
    /// How the rows of a source are found in its table, if it is a CTE that wrote them and SQLite reads them in time.
    pub(crate) fn handed_over(&self, source: &Source) -> Option<Handed<'t>> {
        let name = source.cte()?;
        if self.dialect() != Dialect::Pg || effective_join(source, None).is_some() {
            return None;
        }
        let part = writing_part(self.statement, name)?;
        let table = part.target()?.table()?;
        let order = &self.pair.order;
        match &part.body {
            Body::Delete(delete) => {
                let same = self.relation(source.id) == self.relation(delete.target.id);
                let is_plain = same && delete.using.is_empty() && order.deleted_after.contains(table);
                is_plain.then(|| Handed { filter: delete.filter.as_ref(), sources: Vec::new(), key: Vec::new() })
            }
            Body::Insert(insert) if order.written_before.contains(table) => self.upserted(source, insert),
            _ => None,
        }
    }

    fn upserted(&self, source: &Source, insert: &'t Insert) -> Option<Handed<'t>> {
        let conflict = insert.conflict.as_ref().filter(|conflict| conflict.target_filter.is_none())?;
        let ConflictAction::Update { filter: None, .. } = &conflict.action else { return None };
        let Rows::Select(select) = &insert.rows.rows else { return None };
        let folds = select.distinct.is_some() || !select.group.is_empty() || select.having.is_some();
        if folds || insert.rows.limit.is_some() || insert.rows.offset.is_some() {
            return None;
        }
        // An outer join adds no row that is missing and drops none.
        let filter = select.filter.as_ref();
        let (outer, sources): (Vec<&Source>, Vec<&Source>) =
            select.from.iter().partition(|source| effective_join(source, filter) == Some(JoinKind::Left));
        let depends = |expr: &Expr| {
            let is_outer = |inner: &&Expr| matches!(&inner.kind, ExprKind::Column { source, .. } if outer.iter().any(|outer| outer.id == *source));
            expr.exprs().iter().any(is_outer)
        };
        let mut key = Vec::new();
        for column in conflict.target.as_ref()? {
            let at = insert.columns.iter().position(|(name, _)| name == column)?;
            let value = &select.columns.get(at).filter(|value| !depends(&value.expr))?.expr;
            let own = Node::leaf(Head::column(self.relation(source.id), column), value.span);
            key.push(Node::set(Op::Equals, vec![own, self.expr(value)], value.span));
        }
        let is_plain = !filter.is_some_and(depends);
        is_plain.then(|| Handed { filter, sources: sources.into_iter().cloned().collect(), key })
    }
}
