//! Where a column really comes from: through CTEs and derived tables down to a table or a parameter.

use std::collections::BTreeMap;

use crate::tree::{Body, Expr, ExprKind, OutputColumn, Part, Query, Rows, Source, SourceId, SourceKind, Statement};

/// A column of a table of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin<'a> {
    pub table: &'a str,
    pub column: &'a str,
}

/// What a column turns out to be.
pub enum Deep<'a> {
    Table(Origin<'a>),
    Expr(&'a Expr),
    /// A field of the rows that the statement takes.
    Field(&'a str),
    Unknown,
}

/// All sources of a statement by identity, and its CTEs by name.
pub struct Sources<'a> {
    by_id: BTreeMap<SourceId, &'a Source>,
    excluded: BTreeMap<SourceId, &'a Source>,
    ctes: BTreeMap<&'a str, &'a [OutputColumn]>,
}

/// How many CTEs and derived tables a column is followed through; recursion in CTEs would never end.
const DEPTH: usize = 16;

impl<'a> Sources<'a> {
    pub(super) fn of(tree: &'a Statement) -> Self {
        let mut sources = Self { by_id: BTreeMap::new(), excluded: BTreeMap::new(), ctes: BTreeMap::new() };
        for part in &tree.parts {
            if let Some(name) = &part.name {
                sources.ctes.entry(name).or_insert_with(|| outputs(part));
            }
        }
        sources
    }

    /// Learns the sources of a FROM list.
    pub(super) fn learn(&mut self, source: &'a Source) {
        self.by_id.insert(source.id, source);
    }

    /// Learns which table `excluded` stands for.
    pub(super) fn learn_excluded(&mut self, id: SourceId, target: &'a Source) {
        self.excluded.insert(id, target);
    }

    /// Learns a nested query's own CTEs.
    pub(super) fn learn_cte(&mut self, name: &'a str, query: &'a Query) {
        self.ctes.entry(name).or_insert_with(|| query_outputs(&query.rows));
    }

    /// Follows an expression to the table or the parameter that it names.
    pub fn deep(&self, expr: &'a Expr) -> Deep<'a> {
        let mut expr = expr;
        for _ in 0..DEPTH {
            match &expr.kind {
                ExprKind::Column { source, column } => match self.behind(*source, column) {
                    Deep::Expr(next) => expr = next,
                    other => return other,
                },
                ExprKind::Collate { expr: inner, .. } => expr = inner,
                _ => return Deep::Expr(expr),
            }
        }
        Deep::Unknown
    }

    fn behind(&self, source: SourceId, column: &'a str) -> Deep<'a> {
        let Some(source) = self.excluded.get(&source).or_else(|| self.by_id.get(&source)) else { return Deep::Unknown };
        let named = |outputs: &'a [OutputColumn]| {
            // A CTE may rename its columns, so the place decides where the source lists them.
            let place = source.columns.iter().position(|(name, _)| name == column);
            let output = place.and_then(|i| outputs.get(i)).or_else(|| outputs.iter().find(|o| o.name == column));
            output.map_or(Deep::Unknown, |output| Deep::Expr(&output.expr))
        };
        match &source.kind {
            SourceKind::Table(table) => Deep::Table(Origin { table, column }),
            SourceKind::Cte(name) => self.ctes.get(name.as_str()).map_or(Deep::Unknown, |outputs| named(outputs)),
            SourceKind::Rows(_) => Deep::Field(column),
            SourceKind::Derived(query) => named(query_outputs(&query.rows)),
            SourceKind::Function { .. } | SourceKind::Excluded => Deep::Unknown,
        }
    }
}

/// The columns that a part gives.
pub(super) fn outputs(part: &Part) -> &[OutputColumn] {
    match &part.body {
        Body::Query(query) => query_outputs(&query.rows),
        Body::Insert(insert) => &insert.returning,
        Body::Update(update) => &update.returning,
        Body::Delete(delete) => &delete.returning,
    }
}

/// The columns of the first select of a query.
pub fn query_outputs(rows: &Rows) -> &[OutputColumn] {
    match rows {
        Rows::Select(select) => &select.columns,
        Rows::Values(..) => &[],
        Rows::Set { left, .. } => query_outputs(left),
        Rows::Query(query) => query_outputs(&query.rows),
    }
}
