//! The rows of a unit of SQLite that its last SELECT joins from what the statements before it returned.
//!
//! On the page the statements are CTEs that write, as on that of Postgres. SQLite runs each by itself and keeps nothing of
//! what it returned, so the last SELECT is not sent: the rows are joined where they arrive.

use crate::page::RawStatement;
use crate::source::Span;
use crate::tree::{Body, Expr, ExprKind, Join, JoinKind, Part, Rows, Select, Source, Statement};

/// A join of what statements returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Joined {
    /// The statements of the unit, by their number, in the order of FROM, and whether each may have no row.
    pub(crate) sources: Vec<(usize, bool)>,
    /// For each column of the result, which of `sources` has it, and its place there.
    pub(crate) columns: Vec<(usize, usize)>,
}

/// Where a text reads what SQLite does not have any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// A statement that is sent reads what another one returned.
    Read(Span),
    /// The last SELECT does more than to join columns.
    Shape(Span),
    /// What a statement returns is read by nobody, and would come among the rows of the unit.
    Unread(Span),
}

/// The join of a unit, or what keeps it from being one; neither where no statement reads what another one returned.
pub(crate) fn joined(raw: &RawStatement, tree: &Statement) -> Result<Option<Joined>, Lost> {
    let named = |name: &str| raw.parts.iter().position(|part| part.cte.as_ref().is_some_and(|cte| cte.name == name));
    if raw.parts.iter().all(|part| part.cte.is_none()) {
        return Ok(None);
    }
    let last = raw.parts.len().saturating_sub(1);
    let handed = |source: &Source| source.cte().and_then(named);
    let reading = tree.parts.iter().flat_map(|part| part.sources().into_iter().map(move |source| (part, source)));
    let mut reading = reading.filter(|(_, source)| handed(source).is_some());
    let returning = |part: &&Part| part.target().is_some() && part.name.is_some() && !part.columns().is_empty();
    let Some((_, first)) = reading.clone().next() else {
        return match tree.parts.iter().find(returning) {
            Some(part) => Err(Lost::Unread(part.span)),
            None => Ok(None),
        };
    };
    if let Some((_, source)) = reading.find(|(part, _)| part.statement != last || part.name.is_some()) {
        return Err(Lost::Read(source.span));
    }
    let result = tree.result.and_then(|at| tree.parts.get(at)).filter(|part| part.statement == last);
    let Some(select) = result.and_then(plain) else { return Err(Lost::Shape(first.span)) };
    let mut sources = Vec::new();
    for source in &select.from {
        let Some(statement) = handed(source) else { return Err(Lost::Shape(source.span)) };
        let Some(optional) = is_optional(source.join.as_ref()) else { return Err(Lost::Shape(source.span)) };
        sources.push((statement, optional));
    }
    let mut columns = Vec::new();
    for output in &select.columns {
        let ExprKind::Column { source: id, column } = &output.expr.kind else { return Err(Lost::Shape(output.span)) };
        let place = select.from.iter().position(|source| source.id == *id);
        let among = place.and_then(|at| select.from[at].columns.iter().position(|(name, _)| name == column));
        let (Some(place), Some(among)) = (place, among) else { return Err(Lost::Shape(output.span)) };
        columns.push((place, among));
    }
    match tree.parts.iter().filter(returning).find(|part| sources.iter().all(|(at, _)| *at != part.statement)) {
        Some(part) => Err(Lost::Unread(part.span)),
        None => Ok(Some(Joined { sources, columns })),
    }
}

/// A SELECT that keeps every row of its join.
pub(crate) fn plain(part: &Part) -> Option<&Select> {
    let Body::Query(query) = &part.body else { return None };
    let Rows::Select(select) = &query.rows else { return None };
    let whole = query.order.is_empty()
        && query.limit.is_none()
        && query.offset.is_none()
        && query.ctes.is_empty()
        && select.distinct.is_none()
        && select.filter.is_none()
        && select.group.is_empty()
        && select.having.is_none();
    whole.then_some(select)
}

/// Whether a source may have no row beside those of the others; none for a join that chooses among rows.
pub(crate) fn is_optional(join: Option<&Join>) -> Option<bool> {
    let Some(join) = join else { return Some(false) };
    let is_true =
        |on: &Expr| matches!(on.kind, ExprKind::Bool(true)) || matches!(&on.kind, ExprKind::Number(n) if n == "1");
    match (join.kind, &join.on) {
        (JoinKind::Cross | JoinKind::Inner, None) => Some(false),
        (JoinKind::Inner, Some(on)) if is_true(on) => Some(false),
        (JoinKind::Left, Some(on)) if is_true(on) => Some(true),
        _ => None,
    }
}
