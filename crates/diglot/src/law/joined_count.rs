//! What is counted of the rows that a LEFT JOIN finds, and what is counted by itself.
//!
//! # Why
//!
//! Where a query groups by a key of its first table, each row of it has one group, of the rows that the join has found
//! for it: `count`, `sum`, `min`, `max` and `avg` over a column of those are what a query for that row alone gives. So is
//! what is grouped before it is joined by the columns of its groups, where nothing found counts as 0.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT u.n, count(t.n) AS c FROM u LEFT JOIN t ON t.n = u.n AND t.big > 3 GROUP BY u.n ORDER BY u.n
//! pg:     SELECT u.n, (SELECT count(*) FROM t WHERE t.n = u.n AND t.big > 3) AS c FROM u ORDER BY u.n
//! sqlite: SELECT u.n, count(t.n) AS c FROM u LEFT JOIN t ON t.n = u.n GROUP BY u.n ORDER BY u.n
//! pg:     SELECT u.n, COALESCE(d.c, 0) AS c FROM u LEFT JOIN (SELECT t.n, count(*) AS c FROM t GROUP BY t.n) AS d ON d.n = u.n ORDER BY u.n
//! sqlite: SELECT u.n, max(t.big) AS c FROM u LEFT JOIN t ON t.n = u.n GROUP BY u.n ORDER BY u.n
//! pg:     SELECT u.n, d.c FROM u LEFT JOIN (SELECT t.n, max(t.big) AS c FROM t GROUP BY t.n) AS d ON d.n = u.n ORDER BY u.n
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT u.n, count(*) AS c FROM u LEFT JOIN t ON t.n = u.n GROUP BY u.n ORDER BY u.n
//! pg:     SELECT u.n, (SELECT count(*) FROM t WHERE t.n = u.n) AS c FROM u ORDER BY u.n
//! sqlite: SELECT u.n, count(t.n) AS c FROM u LEFT JOIN t ON t.n = u.n GROUP BY u.n ORDER BY u.n
//! pg:     SELECT u.n, d.c FROM u LEFT JOIN (SELECT t.n, count(*) AS c FROM t GROUP BY t.n) AS d ON d.n = u.n ORDER BY u.n
//! sqlite: SELECT u.name AS n, count(t.n) AS c FROM u LEFT JOIN t ON t.n = u.n GROUP BY u.name ORDER BY u.name
//! pg:     SELECT u.name AS n, (SELECT count(*) FROM t WHERE t.n = u.n) AS c FROM u ORDER BY u.name
//! sqlite: SELECT u.n, count(t.n) AS c FROM u LEFT JOIN t ON t.n = u.n WHERE t.big > 3 GROUP BY u.n ORDER BY u.n
//! pg:     SELECT u.n, (SELECT count(*) FROM t WHERE t.n = u.n AND t.big > 3) AS c FROM u ORDER BY u.n
//! ```

use super::{Known, all_of, column_of, conditions, equal, equation, only_select, own_exprs, plain_query, uses, walk};
use crate::tree::{Expr, ExprKind, JoinKind, OutputColumn, Query, Rows, Select, Source, SourceId, SourceKind};
use crate::types::Type;

/// Aggregates that are NULL, or 0, where no row is found, and look at no row whose value is NULL.
const AGGREGATES: [&str; 6] = ["count", "sum", "min", "max", "avg", "total"];

pub(super) fn apply(query: &mut Query, known: &Known<'_>) -> bool {
    let changed = grouped_join(query, known).or_else(|| joined_groups(query, known));
    if let Some(changed) = changed {
        *query = changed;
        return true;
    }
    false
}

/// `… FROM a LEFT JOIN b ON p GROUP BY key of a`.
fn grouped_join(query: &Query, known: &Known<'_>) -> Option<Query> {
    let mut changed = query.clone();
    let Rows::Select(select) = &mut changed.rows else { return None };
    let [first, second] = select.from.as_slice() else { return None };
    let (first, second) = (first.id, second.clone());
    let table = known.table(&select.from[0])?;
    let join = second.join.as_ref().filter(|join| join.kind == JoinKind::Left && !join.lateral)?;
    let grouped = |name: &String| select.group.iter().any(|key| column_of(key) == Some((first, name)));
    let is_keyed = select.group.iter().all(|key| column_of(key).is_some_and(|(of, _)| of == first))
        && table.keys().any(|key| {
            // Rows without a key are one group.
            key.iter().all(|name| grouped(name) && known.is_present_in_table(&table.name, name))
        });
    let is_plain = select.distinct.is_none() && select.having.is_none() && second.table().is_some();
    if !is_keyed || !is_plain || select.filter.as_ref().is_some_and(|filter| uses(filter, second.id)) {
        return None;
    }
    let inside = Inside { source: &second, conditions: conditions(join.on.clone()), known };
    let mut all: Vec<&mut Expr> = select.columns.iter_mut().map(|column| &mut column.expr).collect();
    all.extend(changed.order.iter_mut().map(|key| &mut key.expr));
    for expr in all {
        inside.replace(expr);
        if own_exprs(expr)
            .into_iter()
            .any(|inner| super::is_aggregate(inner) || column_of(inner).is_some_and(|(of, _)| of == second.id))
        {
            return None;
        }
    }
    select.group.clear();
    select.from.truncate(1);
    Some(changed)
}

/// The rows that are found for one row of the first table.
struct Inside<'a, 'k> {
    source: &'a Source,
    conditions: Vec<Expr>,
    known: &'a Known<'k>,
}

impl Inside<'_, '_> {
    /// Puts a query in the place of every aggregate over these rows.
    fn replace(&self, expr: &mut Expr) {
        walk::expr(expr, &mut |_| {}, &mut |inner| {
            if self.is_of_these(inner) {
                let (ty, span) = (inner.ty.clone().map(|ty| Type { nullable: true, ..ty }), inner.span);
                let column = OutputColumn { name: String::new(), expr: inner.clone(), span };
                let source = Source { join: None, ..self.source.clone() };
                let filter = all_of(self.conditions.clone());
                let select = Select {
                    distinct: None,
                    columns: vec![column],
                    from: vec![source],
                    filter,
                    group: Vec::new(),
                    having: None,
                    span,
                };
                let mut query = plain_query(select, span);
                renumbered(&mut query, self.source.id, self.known.fresh());
                *inner = Expr { kind: ExprKind::Scalar(Box::new(query)), ty, span };
            }
        });
    }

    fn is_of_these(&self, expr: &Expr) -> bool {
        let ExprKind::Call { name, args, star: false, order, over: None, filter, .. } = &expr.kind else {
            return false;
        };
        let [arg] = args.as_slice() else { return false };
        let own = |expr: &Expr| expr.exprs().into_iter().filter_map(column_of).all(|(of, _)| of == self.source.id);
        // Of a row that is not there every column is NULL, and so is what is calculated from one alone.
        AGGREGATES.contains(&name.as_str())
            && order.is_empty()
            && column_of(arg).is_some_and(|(of, _)| of == self.source.id)
            && filter.as_ref().is_none_or(|filter| own(filter))
    }
}

/// Gives a source another identity.
fn renumbered(query: &mut Query, from: SourceId, to: SourceId) {
    if let Rows::Select(select) = &mut query.rows {
        select.from.iter_mut().filter(|source| source.id == from).for_each(|source| source.id = to);
    }
    walk::query(query, &mut |_| {}, &mut |expr| {
        if let ExprKind::Column { source, .. } = &mut expr.kind
            && *source == from
        {
            *source = to;
        }
    });
}

/// `… LEFT JOIN (SELECT key, count(*) AS c FROM b GROUP BY key) AS d ON d.key = a.key`.
fn joined_groups(query: &Query, known: &Known<'_>) -> Option<Query> {
    let Rows::Select(select) = &query.rows else { return None };
    (1..select.from.len()).find_map(|at| {
        let groups = Groups::of(&select.from[at], known)?;
        let mut changed = query.clone();
        let Rows::Select(select) = &mut changed.rows else { return None };
        select.from.remove(at);
        let mut all: Vec<&mut Expr> = select.columns.iter_mut().map(|column| &mut column.expr).collect();
        all.extend(&mut select.filter);
        all.extend(&mut select.group);
        all.extend(&mut select.having);
        all.extend(changed.order.iter_mut().map(|key| &mut key.expr));
        for expr in all {
            groups.replace(expr);
            if uses(expr, groups.id) {
                return None;
            }
        }
        let others = select.from.iter().any(|other| super::source_uses(other, groups.id));
        (!others && select.distinct.is_none()).then_some(changed)
    })
}

/// Groups that are joined by the columns by which they are made.
struct Groups<'a, 'k> {
    id: SourceId,
    select: &'a Select,
    /// What the columns of the groups are joined with.
    keys: Vec<(&'a Expr, Expr)>,
    known: &'a Known<'k>,
}

impl<'a, 'k> Groups<'a, 'k> {
    fn of(source: &'a Source, known: &'a Known<'k>) -> Option<Self> {
        let SourceKind::Derived(query) = &source.kind else { return None };
        let join = source.join.as_ref().filter(|join| join.kind == JoinKind::Left && !join.lateral)?;
        let select = only_select(query).filter(|select| {
            select.distinct.is_none() && select.having.is_none() && !select.group.is_empty() && query.order.is_empty()
        })?;
        let mut keys = Vec::new();
        for condition in join.on.iter().flat_map(Expr::conjuncts) {
            let (name, value) = equation(condition, source.id)?;
            let shown = &select.columns.iter().find(|column| column.name == name)?.expr;
            column_of(shown)?;
            keys.push((shown, value.clone()));
        }
        let is_joined = |group: &Expr| keys.iter().any(|(shown, _)| column_of(shown) == column_of(group));
        let is_whole = select.group.iter().all(|group| column_of(group).is_some() && is_joined(group))
            && keys.iter().all(|(shown, _)| select.group.iter().any(|group| column_of(group) == column_of(shown)));
        is_whole.then_some(Self { id: source.id, select, keys, known })
    }

    /// Puts a query in the place of what the groups show.
    fn replace(&self, expr: &mut Expr) {
        walk::expr(expr, &mut |_| {}, &mut |inner| {
            let value = match &inner.kind {
                ExprKind::Call { name, args, .. } if name == "coalesce" || name == "ifnull" => match args.as_slice() {
                    [value, Expr { kind: ExprKind::Number(zero), .. }] if zero == "0" => {
                        self.counted(value, &["count"])
                    }
                    _ => None,
                },
                ExprKind::Column { .. } => self.counted(inner, &["sum", "min", "max", "avg"]),
                _ => None,
            };
            if let Some(value) = value {
                *inner = value;
            }
        });
    }

    /// The query for one group's aggregate, if it is one of these.
    fn counted(&self, shown: &Expr, names: &[&str]) -> Option<Expr> {
        let (_, name) = column_of(shown).filter(|(of, _)| *of == self.id)?;
        let column = self.select.columns.iter().find(|column| column.name == name)?;
        let ExprKind::Call { name, over: None, .. } = &column.expr.kind else { return None };
        if !names.contains(&name.as_str()) {
            return None;
        }
        let mut filter = conditions(self.select.filter.clone());
        filter.extend(self.keys.iter().map(|(own, value)| equal((*own).clone(), value.clone(), value.span)));
        let (span, ty) = (shown.span, column.expr.ty.clone().map(|ty| Type { nullable: true, ..ty }));
        let select =
            Select { columns: vec![column.clone()], filter: all_of(filter), group: Vec::new(), ..self.select.clone() };
        let mut query = plain_query(select, span);
        for source in &self.select.from {
            renumbered(&mut query, source.id, self.known.fresh());
        }
        Some(Expr { kind: ExprKind::Scalar(Box::new(query)), ty, span })
    }
}
