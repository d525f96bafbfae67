//! Laws between shapes of a statement: two trees that give the same rows, under preconditions.
//!
//! A pair that differs as it is written is looked at again with every law taken. Each law has a file with its
//! preconditions in words and with its examples, and takes one shape to another in one direction only: to the one that
//! says less of how rows are found. So laws compose, and end.

mod anti_join;
mod first_of_each;
mod grouped_array;
mod inlined_cte;
mod joined_count;
mod joined_write;
mod lateral_value;
mod least_of_rows;
mod listed_item;
mod merged_query;
mod own_row;
mod semi_join;
mod set_difference;
mod turned_union;
mod unique_frame;
mod walk;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crate::normal::PairContext;
use crate::schema::Table;
use crate::source::Span;
use crate::tree::{
    Body, Expr, ExprKind, JoinKind, OutputColumn, Query, Rows, Select, Source, SourceId, SourceKind, Statement,
};
use crate::types::{Base, Type};

/// How often all laws are taken: one may make room for another.
const ROUNDS: usize = 4;

/// A law about a query; whether it changed something.
type OfQuery = fn(&mut Query, &Known<'_>) -> bool;
/// A law about an expression.
type OfExpr = fn(&mut Expr, &Known<'_>) -> bool;

const OF_QUERIES: [OfQuery; 10] = [
    lateral_value::apply,
    first_of_each::apply,
    merged_query::apply,
    anti_join::apply,
    semi_join::apply,
    set_difference::apply,
    unique_frame::apply,
    joined_count::apply,
    grouped_array::apply,
    listed_item::of_query,
];
const OF_EXPRESSIONS: [OfExpr; 5] =
    [least_of_rows::apply, joined_write::as_membership, own_row::apply, anti_join::of_list, listed_item::of_document];

/// What laws know of the names of a statement.
struct Known<'a> {
    pair: &'a PairContext<'a>,
    /// The table that a source is, and whether it may have no row where the others have one.
    tables: BTreeMap<SourceId, (String, bool)>,
    /// The next identity that no source has.
    next: Cell<u32>,
}

/// The statement with every law taken; none where no law says anything of it.
pub(crate) fn settled(statement: &Statement, facing: &Statement, pair: &PairContext<'_>) -> Option<Statement> {
    let mut settled = statement.clone();
    let mut is_changed = inlined_cte::apply(&mut settled, facing, pair);
    for _ in 0..ROUNDS {
        let known = Known::of(&settled, pair);
        let (mut changed, mut changed_inside) = (false, false);
        for part in &mut settled.parts {
            walk::body(&mut part.body, &mut |query| changed |= of_query(query, &known), &mut |expr| {
                for law in OF_EXPRESSIONS {
                    changed_inside |= law(expr, &known);
                }
            });
            match &mut part.body {
                Body::Update(update) => {
                    changed |= joined_write::update(update) | listed_item::of_filter(&mut update.filter);
                }
                Body::Delete(delete) => {
                    changed |= joined_write::delete(delete) | listed_item::of_filter(&mut delete.filter);
                }
                Body::Query(_) | Body::Insert(_) => {}
            }
        }
        if !(changed || changed_inside) {
            break;
        }
        is_changed = true;
    }
    is_changed |= turned_union::apply(&mut settled, pair);
    is_changed.then_some(settled)
}

fn of_query(query: &mut Query, known: &Known<'_>) -> bool {
    let mut is_changed = false;
    for law in OF_QUERIES {
        is_changed |= law(query, known);
    }
    is_changed
}

impl<'a> Known<'a> {
    fn of(statement: &Statement, pair: &'a PairContext<'a>) -> Self {
        let sources = statement.sources();
        let kind = |source: &Source| source.join.as_ref().map(|join| join.kind);
        let preserved = sources.iter().any(|source| matches!(kind(source), Some(JoinKind::Right | JoinKind::Full)));
        let entry = |source: &&Source| {
            let outer = preserved || matches!(kind(source), Some(JoinKind::Left));
            Some((source.id, (source.table()?.to_owned(), outer)))
        };
        let next = Cell::new(statement.sources_by_id().last_key_value().map_or(0, |(id, _)| id.0) + 1);
        Self { pair, tables: sources.iter().filter_map(entry).collect(), next }
    }

    /// An identity for one more source.
    fn fresh(&self) -> SourceId {
        SourceId(self.next.replace(self.next.get() + 1))
    }

    /// Whether a column is declared to hold an array of texts.
    fn is_list_of_texts(&self, expr: &Expr) -> bool {
        let Some((source, column)) = column_of(expr) else { return false };
        let table = self.tables.get(&source).map(|(table, _)| table);
        table.is_some_and(|table| self.pair.promised.json_list(table, column) == Some("text[]"))
    }

    /// Whether a column of a table is never NULL in a row that is there.
    fn is_present_in_table(&self, table: &str, column: &str) -> bool {
        let known = self.pair.schemas.pg.tables.get(table).and_then(|table| table.column(column));
        known.is_some_and(|column| !column.ty.nullable)
    }

    /// Whether a value is never NULL.
    fn is_present(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Param(name) => !self.pair.nullable.contains(name),
            ExprKind::Number(_) | ExprKind::Text(_) | ExprKind::Bool(_) | ExprKind::Blob(_) => true,
            ExprKind::Column { source, column } => {
                self.tables.get(source).is_some_and(|(table, outer)| !outer && self.is_present_in_table(table, column))
            }
            _ => false,
        }
    }

    /// The table as Postgres has it.
    fn table(&self, source: &Source) -> Option<&'a Table> {
        self.pair.schemas.pg.tables.get(source.table()?).filter(|table| !table.view)
    }
}

/// Whether an expression names a source.
fn uses(expr: &Expr, id: SourceId) -> bool {
    columns_of(expr, id).next().is_some()
}

/// The columns of a source that an expression names.
fn columns_of(expr: &Expr, id: SourceId) -> impl Iterator<Item = &str> {
    expr.exprs().into_iter().filter_map(move |inner| match &inner.kind {
        ExprKind::Column { source, column } if *source == id => Some(column.as_str()),
        _ => None,
    })
}

/// Whether a query names a source.
fn query_uses(query: &Query, id: SourceId) -> bool {
    let named = |expr: &&Expr| matches!(&expr.kind, ExprKind::Column { source, .. } if *source == id);
    query.exprs().iter().any(named)
}

/// Whether another source names a source: in its condition, or inside it.
fn source_uses(source: &Source, id: SourceId) -> bool {
    let on = source.join.as_ref().and_then(|join| join.on.as_ref());
    let inside = match &source.kind {
        SourceKind::Derived(query) => query_uses(query, id),
        SourceKind::Function { args, .. } => args.iter().any(|arg| uses(arg, id)),
        SourceKind::Table(_) | SourceKind::Cte(_) | SourceKind::Rows(_) | SourceKind::Excluded => false,
    };
    inside || on.is_some_and(|on| uses(on, id))
}

/// Whether the outputs of a select, its groups or the order of its query name a source.
fn is_shown(select: &Select, order: &[crate::tree::OrderKey], id: SourceId) -> bool {
    let outputs = select.columns.iter().map(|column| &column.expr);
    let keys = select.distinct.iter().flat_map(|(keys, _)| keys);
    let mut all =
        outputs.chain(&select.group).chain(&select.having).chain(keys).chain(order.iter().map(|key| &key.expr));
    all.any(|expr| uses(expr, id))
}

/// The conditions that a condition joins with AND.
fn conditions(filter: Option<Expr>) -> Vec<Expr> {
    filter.iter().flat_map(Expr::conjuncts).cloned().collect()
}

/// All conditions as one.
fn all_of(conditions: Vec<Expr>) -> Option<Expr> {
    conditions.into_iter().reduce(|left, right| {
        let span = left.span.to(right.span);
        let ty = Some(Type::optional(Base::Bool));
        Expr { kind: ExprKind::Binary { op: "and".to_owned(), left: Box::new(left), right: Box::new(right) }, ty, span }
    })
}

/// `left = right`.
fn equal(left: Expr, right: Expr, span: Span) -> Expr {
    let kind = ExprKind::Binary { op: "=".to_owned(), left: Box::new(left), right: Box::new(right) };
    Expr { kind, ty: Some(Type::optional(Base::Bool)), span }
}

/// `[NOT] EXISTS (SELECT 1 FROM sources WHERE conditions)`.
fn exists(mut from: Vec<Source>, conditions: Vec<Expr>, negated: bool, span: Span) -> Expr {
    if let Some(first) = from.first_mut() {
        first.join = None;
    }
    let one = Expr { kind: ExprKind::Number("1".to_owned()), ty: Some(Type::required(Base::Int64)), span };
    let columns = vec![OutputColumn { name: "1".to_owned(), expr: one, span }];
    let filter = all_of(conditions);
    let select = Select { distinct: None, columns, from, filter, group: Vec::new(), having: None, span };
    let query = Box::new(plain_query(select, span));
    Expr { kind: ExprKind::Exists { query, negated }, ty: Some(Type::required(Base::Bool)), span }
}

fn plain_query(select: Select, span: Span) -> Query {
    Query::bare(Rows::Select(Box::new(select)), span)
}

/// The SELECT of a query that neither orders nor cuts off, and has no CTEs and locks.
fn only_select(query: &Query) -> Option<&Select> {
    let Rows::Select(select) = &query.rows else { return None };
    let plain = query.ctes.is_empty() && query.limit.is_none() && query.offset.is_none() && query.locks.is_empty();
    plain.then_some(select)
}

/// Whether a SELECT gives each row that it finds once, each by itself.
fn is_row_by_row(select: &Select) -> bool {
    select.distinct.is_none() && !folds(select) && !has_window(select)
}

/// Whether a SELECT makes one row of several.
fn folds(select: &Select) -> bool {
    let aggregates = select.columns.iter().any(|column| own_exprs(&column.expr).into_iter().any(is_aggregate));
    !select.group.is_empty() || select.having.is_some() || aggregates
}

/// An expression and those inside it, without those of its queries.
fn own_exprs(expr: &Expr) -> Vec<&Expr> {
    let all = expr.exprs();
    let of_queries: Vec<&Expr> = all.iter().filter_map(|inner| inner.subquery()).flat_map(Query::exprs).collect();
    all.into_iter().filter(|inner| !of_queries.iter().any(|other| std::ptr::eq(*other, *inner))).collect()
}

/// Whether an expression is an aggregate of a group.
fn is_aggregate(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { name, args, over: None, .. } if crate::resolve::is_aggregate(name, args.len()))
}

fn has_window(select: &Select) -> bool {
    let is_window = |expr: &&Expr| matches!(expr.kind, ExprKind::Call { over: Some(_), .. });
    select.columns.iter().flat_map(|column| column.expr.exprs()).any(|expr| is_window(&expr))
}

/// The column that an expression is.
fn column_of(expr: &Expr) -> Option<(SourceId, &str)> {
    match &expr.kind {
        ExprKind::Column { source, column } => Some((*source, column)),
        _ => None,
    }
}

/// The sides of an equation, that which is a column of a source first.
fn equation(condition: &Expr, id: SourceId) -> Option<(&str, &Expr)> {
    let ExprKind::Binary { op, left, right } = &condition.kind else { return None };
    let side = |own: &'_ Expr, other: &Expr| column_of(own).is_some_and(|(of, _)| of == id) && !uses(other, id);
    match () {
        () if op != "=" => None,
        () if side(left, right) => Some((column_of(left)?.1, right)),
        () if side(right, left) => Some((column_of(right)?.1, left)),
        () => None,
    }
}

/// Puts what stands behind a source's columns in their place; whether there was something behind each.
fn put_behind(exprs: &mut [&mut Expr], id: SourceId, behind: &BTreeMap<String, Expr>) -> bool {
    let known = |expr: &Expr| columns_of(expr, id).all(|column| behind.contains_key(column));
    if !exprs.iter().all(|expr| known(expr)) {
        return false;
    }
    for expr in exprs {
        walk::expr(expr, &mut |_| {}, &mut |inner| {
            if let Some(value) = column_of(inner).filter(|(of, _)| *of == id).and_then(|(_, name)| behind.get(name)) {
                *inner = Expr { span: inner.span, ..value.clone() };
            }
        });
    }
    true
}

/// Whether a key of a table is given for each row of the others: there is one row of it at most for each.
fn has_one_row_for_each(known: &Known<'_>, source: &Source, conditions: &[Expr]) -> bool {
    let Some(table) = known.table(source) else { return false };
    let given: BTreeSet<&str> =
        conditions.iter().filter_map(|condition| equation(condition, source.id)).map(|(column, _)| column).collect();
    table.keys().any(|key| key.iter().all(|column| given.contains(column.as_str())))
}
