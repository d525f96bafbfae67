//! Ways to look at a statement that several lints share.

mod bounds;
mod held;
mod many;

use super::Context;
use crate::dialect::Dialect;
use crate::infer::PageOf;
use crate::infer::origin::query_outputs;
use crate::page::{AnnotationKind, Slice};
use crate::resolve::is_aggregate_call;
use crate::schema::{Column, Table};
use crate::source::{Sources, Span};
use crate::split::lexer::{self, Token};
use crate::tree::{
    Assignment, Body, ConflictAction, Expr, ExprKind, OutputColumn, Part, Query, Rows, Select, SourceId, SourceKind,
    Update,
};
use crate::types::{Base, Type};

pub(super) use bounds::{Bounds, is_same};
pub(super) use many::tied;

/// Every condition of a part that must hold for a row to count: conjuncts of WHERE and of ON, at every depth.
pub(super) fn conjuncts(part: &Part) -> Vec<&Expr> {
    let mut found = Vec::new();
    match &part.body {
        Body::Update(update) => split(update.filter.as_ref(), &mut found),
        Body::Delete(delete) => split(delete.filter.as_ref(), &mut found),
        Body::Query(_) | Body::Insert(_) => {}
    }
    for source in part.sources() {
        split(source.join.as_ref().and_then(|join| join.on.as_ref()), &mut found);
    }
    selects(part).into_iter().for_each(|select| split(select.filter.as_ref(), &mut found));
    found
}

pub(super) fn branches<'t>(rows: &'t Rows, selects: &mut Vec<&'t Select>) {
    match rows {
        Rows::Select(select) => selects.push(select),
        Rows::Set { left, right, .. } => {
            branches(left, selects);
            branches(right, selects);
        }
        Rows::Values(..) | Rows::Query(_) => {}
    }
}

pub(super) fn split<'t>(filter: Option<&'t Expr>, found: &mut Vec<&'t Expr>) {
    found.extend(filter.into_iter().flat_map(Expr::conjuncts));
}

/// Every SELECT of a part, at every depth.
pub(super) fn selects(part: &Part) -> Vec<&Select> {
    let mut found = Vec::new();
    part.queries().into_iter().for_each(|query| branches(&query.rows, &mut found));
    found
}

/// Whether a SELECT makes one value of many rows.
pub(super) fn folds(select: &Select) -> bool {
    select.columns.iter().any(|column| is_aggregate_call(&column.expr))
}

/// Whether an UPDATE sets a column.
pub(super) fn sets(update: &Update, column: &str) -> bool {
    update.set.iter().any(|set| set.column == column)
}

/// What a part assigns to columns of its target: in an UPDATE, and in the one of an upsert.
pub(super) fn assignments(part: &Part) -> &[Assignment] {
    match &part.body {
        Body::Update(update) => &update.set,
        Body::Insert(insert) => match insert.conflict.as_ref().map(|conflict| &conflict.action) {
            Some(ConflictAction::Update { set, .. }) => set,
            _ => &[],
        },
        Body::Query(_) | Body::Delete(_) => &[],
    }
}

/// What is assigned to columns of the part's target, and inserted into them.
pub(super) fn stored(part: &Part) -> Vec<(&str, &Expr)> {
    let assigned = assignments(part).iter().map(|set| (set.column.as_str(), &set.value));
    assigned.chain(inserted(part)).collect()
}

/// The columns of a source for which conditions ask.
pub(super) fn asked<'t>(conditions: impl IntoIterator<Item = &'t Expr>, of: SourceId) -> impl Iterator<Item = &'t str> {
    let own = move |expr: &'t Expr| match &expr.kind {
        ExprKind::Column { source, column } if *source == of => Some(column.as_str()),
        _ => None,
    };
    conditions.into_iter().flat_map(Expr::exprs).filter_map(own)
}

/// What is inserted into columns of the part's target.
pub(super) fn inserted(part: &Part) -> Vec<(&str, &Expr)> {
    let Body::Insert(insert) = &part.body else { return Vec::new() };
    let rows: Vec<Vec<&Expr>> = match &insert.rows.rows {
        Rows::Select(select) => vec![select.columns.iter().map(|column| &column.expr).collect()],
        Rows::Values(rows, _) => rows.iter().map(|row| row.iter().collect()).collect(),
        Rows::Set { .. } | Rows::Query(_) => Vec::new(),
    };
    let pairs = rows.into_iter().flat_map(|row| insert.columns.iter().map(|(column, _)| column.as_str()).zip(row));
    pairs.collect()
}

/// The columns of RETURNING.
pub(super) fn returning(part: &Part) -> &[OutputColumn] {
    match &part.body {
        Body::Insert(insert) => &insert.returning,
        Body::Update(update) => &update.returning,
        Body::Delete(delete) => &delete.returning,
        Body::Query(_) => &[],
    }
}

/// The names of the tables that a query reads itself, not in its subqueries.
pub(super) fn tables(query: &Query) -> Vec<(&str, SourceId)> {
    let mut selects = Vec::new();
    branches(&query.rows, &mut selects);
    let sources = selects.into_iter().flat_map(|select| &select.from);
    sources.filter_map(|source| Some((source.table()?, source.id))).collect()
}

/// The sources whose columns an expression reads, those of its subqueries too.
pub(super) fn read_from(expr: &Expr) -> Vec<SourceId> {
    let source = |expr: &Expr| match &expr.kind {
        ExprKind::Column { source, .. } => Some(*source),
        _ => None,
    };
    expr.exprs().into_iter().filter_map(source).collect()
}

/// The one ordered query over whose rows a SELECT passes, each once: both engines then keep that order.
pub(super) fn ordered_below<'t>(context: &Context<'t>, part: &Part, select: &'t Select) -> Option<&'t Query> {
    let [source] = select.from.as_slice() else { return None };
    let query = match &source.kind {
        SourceKind::Derived(query) => &**query,
        SourceKind::Cte(name) => {
            let own = context.page.tree.parts.iter().filter(|other| other.statement == part.statement);
            own.filter(|other| other.name.as_ref() == Some(name)).find_map(|other| match &other.body {
                Body::Query(query) => Some(query),
                _ => None,
            })?
        }
        _ => return None,
    };
    let is_plain = select.distinct.is_none() && select.group.is_empty() && select.having.is_none();
    (is_plain && !query.order.is_empty()).then_some(query)
}

pub(super) fn is_integer(base: &Base) -> bool {
    matches!(base, Base::Int16 | Base::Int32 | Base::Int64)
}

/// What stands inside casts and COLLATE.
pub(super) fn bare(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast { expr, .. } | ExprKind::Collate { expr, .. } => bare(expr),
        _ => expr,
    }
}

/// Whether an operator compares by order or for equality.
pub(super) fn is_comparison(op: &str) -> bool {
    ["=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from"].contains(&op)
}

impl<'a> Context<'a> {
    /// Whether this is the Postgres page of a pair.
    pub(super) fn is_pg_of_pair(&self) -> bool {
        self.page.tree.dialect == Dialect::Pg && self.facing.is_some()
    }

    /// Whether this is the SQLite page of a pair.
    pub(super) fn is_sqlite_of_pair(&self) -> bool {
        self.page.tree.dialect == Dialect::Sqlite && self.facing.is_some()
    }

    /// The table that a part writes.
    pub(super) fn target(&self, part: &Part) -> Option<&Table> {
        self.page.schema.tables.get(part.target()?.table()?)
    }

    /// What the parts store into columns of tables.
    pub(super) fn stored(&self) -> impl Iterator<Item = (&Table, &str, &Expr)> {
        let tables = self.page.tree.parts.iter().filter_map(|part| Some((part, self.target(part)?)));
        tables.flat_map(|(part, table)| stored(part).into_iter().map(move |(name, value)| (table, name, value)))
    }

    /// The table behind a source.
    pub(super) fn table(&self, source: SourceId) -> Option<&Table> {
        self.page.schema.tables.get(self.by_id.get(&source)?.table()?)
    }

    /// The query of a CTE.
    pub(super) fn cte(&self, name: &str) -> Option<&'a Query> {
        match &self.page.tree.parts.iter().find(|part| part.name.as_deref() == Some(name))?.body {
            Body::Query(query) => Some(query),
            _ => None,
        }
    }

    /// Whether the statement calls a source by that name, in any case of letters.
    pub(super) fn is_alias(&self, name: &str) -> bool {
        self.by_id.values().any(|source| source.alias.eq_ignore_ascii_case(name))
    }

    /// The column of a table that an expression is.
    pub(super) fn column(&self, expr: &Expr) -> Option<(&Table, &Column)> {
        let ExprKind::Column { source, column } = &expr.kind else { return None };
        let table = self.table(*source)?;
        Some((table, table.column(column)?))
    }

    /// What stands behind a column of a derived table or a CTE.
    pub(super) fn behind(&self, source: SourceId, column: &str) -> Option<&'a Expr> {
        let source = self.by_id.get(&source)?;
        let query = match &source.kind {
            SourceKind::Derived(query) => query,
            SourceKind::Cte(name) => self.cte(name)?,
            _ => return None,
        };
        let place = source.columns.iter().position(|(name, _)| name == column)?;
        Some(&query_outputs(&query.rows).get(place)?.expr)
    }

    /// The type that `-- param` declares, on either page.
    pub(super) fn declared(&self, name: &str) -> Option<&Type> {
        let pages = [Some(self.page), self.facing];
        pages.into_iter().flatten().flat_map(|page| &page.raw.annotations).find_map(|annotation| {
            match &annotation.kind {
                AnnotationKind::Param { name: declared, ty } if declared == name => Some(ty),
                _ => None,
            }
        })
    }

    /// What a value holds: by its own type, or by that of a parameter.
    pub(super) fn holds<'e>(&'e self, expr: &'e Expr) -> Option<&'e Base> {
        let base = match &expr.kind {
            ExprKind::Param(name) => self.params.iter().find(|param| param.name == *name).map(|param| &param.ty.base),
            _ => expr.base(),
        };
        base.map(Base::seen)
    }
}

/// A token with its text and its place.
pub(super) struct Word<'a> {
    pub(super) token: Token,
    pub(super) text: &'a str,
    pub(super) span: Span,
}

impl Word<'_> {
    /// Whether it is that bare word, in any case of letters.
    pub(super) fn is(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }
}

/// The tokens of each SQL statement of a page, comments too.
pub(super) fn tokens<'a>(sources: &'a Sources, page: &PageOf<'_>) -> Vec<Vec<Word<'a>>> {
    let of_slice = |slice: Slice| {
        let text = slice.word.unwrap_or_else(|| sources.text(slice.span));
        let base = slice.span.start as usize;
        let place = move |token: &Token| match slice.word {
            Some(_) => slice.span,
            None => Span::new(slice.span.file, base + token.start..base + token.end),
        };
        let words = lexer::tokens(text, page.tree.dialect).into_iter();
        let words = words.map(move |token| Word { token, text: &text[token.start..token.end], span: place(&token) });
        words.filter_map(move |word| match page.raw.argument_at(word.span) {
            Some(bound) if bound.place.start != word.span.start => None,
            Some(bound) => Some(Word { text: sources.text(bound.argument.span), span: bound.place, ..word }),
            None => Some(word),
        })
    };
    let parts = page.raw.parts.iter().map(|part| {
        let words = part.slices().into_iter().flat_map(of_slice);
        words.filter(|word| !page.raw.is_left_out(word.span)).collect()
    });
    parts.collect()
}
