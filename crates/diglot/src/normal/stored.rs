//! Which column of a table a column shows: CTEs, subqueries in FROM and RETURNING hand on what they read, so that what the
//! project declares of a column holds of it there too.

use std::collections::BTreeMap;

use super::Names;
use crate::tree::{Body, Expr, ExprKind, OutputColumn, Part, Query, Rows, SourceId, SourceKind, Statement};

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) table: String,
    pub(crate) column: String,
    /// Whether an outer join inside what shows it may have put NULL in its place.
    pub(crate) may_miss: bool,
}

/// The CTEs of a statement.
pub(super) struct Ctes<'t> {
    /// Those of queries inside its parts, by their names.
    nested: Vec<(&'t str, &'t Query)>,
    /// The part in which each CTE's reader stands.
    readers: BTreeMap<SourceId, &'t Part>,
}

impl<'t> Ctes<'t> {
    fn of(statement: &'t Statement) -> Self {
        let nested = statement.parts.iter().flat_map(Part::queries).flat_map(|query| &query.ctes);
        let mut readers = BTreeMap::new();
        for part in &statement.parts {
            let reading = part.sources().into_iter().filter(|source| source.cte().is_some());
            reading.for_each(|source| {
                readers.entry(source.id).or_insert(part);
            });
        }
        Self { nested: nested.map(|(name, query)| (name.as_str(), query)).collect(), readers }
    }
}

impl Names<'_> {
    /// The column of a table that an expression shows.
    pub(super) fn stored(&self, expr: &Expr) -> Option<Stored> {
        let ExprKind::Column { source, column } = &expr.kind else { return None };
        let stored = self.stored_column(*source, column)?;
        Some(Stored { may_miss: stored.may_miss || self.is_outer(*source), ..stored })
    }

    /// The column of a table that a column of a source shows.
    pub(super) fn stored_column(&self, id: SourceId, column: &str) -> Option<Stored> {
        let source = self.sources.get(&id)?;
        if let SourceKind::Table(table) = &source.kind {
            return Some(Stored { table: table.clone(), column: column.to_owned(), may_miss: false });
        }
        let key = (id, column.to_owned());
        if let Some(known) = self.stored.borrow().get(&key) {
            return known.clone();
        }
        // A recursive CTE that is on its way shows nothing yet.
        self.stored.borrow_mut().insert(key.clone(), None);
        let at = source.columns.iter().position(|(name, _)| name == column)?;
        let found = match &source.kind {
            SourceKind::Derived(query) => self.stored_output(query, at, None),
            SourceKind::Cte(name) => self.stored_in_cte(id, name, at),
            _ => None,
        };
        self.stored.borrow_mut().insert(key, found.clone());
        found
    }

    fn stored_in_cte(&self, reader: SourceId, name: &str, at: usize) -> Option<Stored> {
        let ctes = self.ctes.get_or_init(|| Ctes::of(self.statement));
        let mut nested = ctes.nested.iter().filter(|(own, _)| *own == name).map(|(_, query)| *query);
        let (inner, is_one) = (nested.next(), nested.next().is_none());
        let holder = ctes.readers.get(&reader)?;
        let is_it = |part: &&Part| part.statement == holder.statement && part.name.as_deref() == Some(name);
        match (self.statement.parts.iter().find(is_it), inner) {
            (None, Some(query)) if is_one => self.stored_output(query, at, Some(name)),
            (Some(part), None) => match &part.body {
                Body::Query(query) => self.stored_output(query, at, Some(name)),
                _ => self.stored(&returned(part)?.get(at)?.expr),
            },
            // Which of several is meant is not looked into.
            _ => None,
        }
    }

    /// What a query shows in one of its columns. What the query of a CTE takes out of itself is what its other rows show.
    fn stored_output(&self, query: &Query, at: usize, cte: Option<&str>) -> Option<Stored> {
        self.stored_in_rows(&query.rows, at, cte)
    }

    fn stored_in_rows(&self, rows: &Rows, at: usize, cte: Option<&str>) -> Option<Stored> {
        match rows {
            Rows::Select(select) => self.stored(&select.columns.get(at)?.expr),
            Rows::Set { left, right, .. } => match (self.repeats(left, at, cte), self.repeats(right, at, cte)) {
                (false, true) => self.stored_in_rows(left, at, cte),
                (true, false) => self.stored_in_rows(right, at, cte),
                _ => {
                    let left = self.stored_in_rows(left, at, cte)?;
                    let right = self.stored_in_rows(right, at, cte)?;
                    let is_same = left.table == right.table && left.column == right.column;
                    is_same.then_some(Stored { may_miss: left.may_miss || right.may_miss, ..left })
                }
            },
            Rows::Query(query) => self.stored_output(query, at, cte),
            Rows::Values(..) => None,
        }
    }

    /// Whether a SELECT shows in a column what the CTE whose part it is shows there.
    fn repeats(&self, rows: &Rows, at: usize, cte: Option<&str>) -> bool {
        let (Rows::Select(select), Some(cte)) = (rows, cte) else { return false };
        let Some(ExprKind::Column { source, column }) = select.columns.get(at).map(|output| &output.expr.kind) else {
            return false;
        };
        self.sources.get(source).is_some_and(|source| {
            source.cte() == Some(cte) && source.columns.iter().position(|(name, _)| name == column) == Some(at)
        })
    }
}

/// What a part that writes gives back.
fn returned(part: &Part) -> Option<&[OutputColumn]> {
    match &part.body {
        Body::Insert(insert) => Some(&insert.returning),
        Body::Update(update) => Some(&update.returning),
        Body::Delete(delete) => Some(&delete.returning),
        Body::Query(_) => None,
    }
}
