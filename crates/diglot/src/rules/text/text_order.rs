//! Texts are ordered by the rules of a language.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::infer::origin::query_outputs;
use crate::rule;
use crate::schema::Table;
use crate::source::Span;
use crate::tree::{Body, Expr, ExprKind, OrderKey, Query, Rows, Select};
use crate::types::Base;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() || context.config.pg_collation.eq_ignore_ascii_case("c") {
        return;
    }
    let mut report = |exprs: &[&Expr], at: Span| {
        let mut letters = Letters { context, first: None, by_bytes: false };
        exprs.iter().for_each(|expr| letters.learn(expr, DEPTH));
        let Some(item) = letters.first.filter(|_| !letters.by_bytes) else { return };
        let message = format!("{}: `{item}` is ordered by the rules of a language", context.name());
        let label = "by bytes on SQLite, by the collation on Postgres";
        let finding = Diagnostic::error(rule::TEXT_ORDER, message, at, label);
        let help = "write `COLLATE \"C\"` behind the column, in the schema of Postgres or here";
        let config = "or, if the database orders by bytes: `pg_collation = \"C\"` in `diglot.toml`";
        found.push(finding.help(help).help(config));
    };
    for part in &context.page.tree.parts {
        for query in part.queries() {
            let seen = matches!(&part.body, Body::Query(top) if std::ptr::eq(top, query)) || query.limit.is_some();
            let shows = |key: &&OrderKey| {
                let is_hidden = !seen && groups_by(query, &key.expr);
                !is_hidden && !is_one_value(query, &key.expr)
            };
            query.order.iter().filter(shows).for_each(|key| report(&[&key.expr], key.span));
        }
    }
    for expr in &context.exprs {
        match &expr.kind {
            ExprKind::Binary { op, left, right } if ["<", "<=", ">", ">="].contains(&op.as_str()) => {
                match (&left.kind, &right.kind) {
                    (ExprKind::Tuple(lefts), ExprKind::Tuple(rights)) => {
                        lefts.iter().zip(rights).for_each(|(left, right)| report(&[left, right], left.span));
                    }
                    _ => report(&[left, right], expr.span),
                }
            }
            ExprKind::Between { expr: inner, low, high, .. } => report(&[inner, low, high], expr.span),
            ExprKind::Call { name, args, order, over, .. } => {
                if ["min", "max", "greatest", "least"].contains(&name.as_str()) {
                    report(&args.iter().collect::<Vec<_>>(), expr.span);
                }
                let keys = order.iter().chain(over.iter().flat_map(|window| &window.order));
                keys.for_each(|key| report(&[&key.expr], key.span));
            }
            _ => {}
        }
    }
}

/// How deep an expression is followed to the columns that its letters come from.
const DEPTH: usize = 12;

/// Functions that give the letters of their arguments.
const CARRIES: [&str; 26] = [
    "btrim",
    "coalesce",
    "concat",
    "concat_ws",
    "first_value",
    "greatest",
    "initcap",
    "lag",
    "last_value",
    "lead",
    "least",
    "left",
    "lower",
    "lpad",
    "ltrim",
    "max",
    "min",
    "nullif",
    "replace",
    "right",
    "rpad",
    "rtrim",
    "substr",
    "substring",
    "trim",
    "upper",
];

/// Where the letters of texts that are put into an order come from.
struct Letters<'c, 'a> {
    context: &'c Context<'a>,
    /// The first column, as `table.column`.
    first: Option<String>,
    /// Whether a collation is said somewhere, which then holds for the whole.
    by_bytes: bool,
}

impl Letters<'_, '_> {
    fn learn(&mut self, expr: &Expr, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        if !matches!(expr.base(), None | Some(Base::Text)) {
            return;
        }
        match &expr.kind {
            ExprKind::Column { source, column } => match self.context.column(expr) {
                Some((table, column)) if column.ty.base == Base::Text => match column.collation {
                    Some(_) => self.by_bytes = true,
                    None => self.found(table, &column.name),
                },
                Some(_) => {}
                None => {
                    if let Some(behind) = self.context.behind(*source, column) {
                        self.learn(behind, depth);
                    }
                }
            },
            ExprKind::Collate { .. } => self.by_bytes = true,
            ExprKind::Cast { expr, .. } if expr.base() == Some(&Base::Text) => self.learn(expr, depth),
            ExprKind::Binary { op, left, right } if op == "||" => {
                self.learn(left, depth);
                self.learn(right, depth);
            }
            ExprKind::Binary { op, left, .. } if op == "->>" || op == "#>>" => {
                if let Some((table, column)) = self.context.column(left) {
                    self.found(table, &column.name);
                }
            }
            ExprKind::Call { name, args, .. } if CARRIES.contains(&name.as_str()) => {
                args.iter().for_each(|arg| self.learn(arg, depth));
            }
            ExprKind::Case { branches, otherwise, .. } => {
                let values = branches.iter().map(|(_, then)| then).chain(otherwise.as_deref());
                values.for_each(|value| self.learn(value, depth));
            }
            ExprKind::Scalar(query) => {
                query_outputs(&query.rows).iter().take(1).for_each(|output| self.learn(&output.expr, depth));
            }
            _ => {}
        }
    }

    fn found(&mut self, table: &Table, column: &str) {
        self.first.get_or_insert_with(|| format!("{}.{column}", table.name));
    }
}

fn select(query: &Query) -> Option<&Select> {
    match &query.rows {
        Rows::Select(select) => Some(select),
        _ => None,
    }
}

fn same_column(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Column { source, column }, ExprKind::Column { source: other, column: name }) => {
            source == other && column == name
        }
        _ => false,
    }
}

/// Whether the condition of a query holds a column to one value.
fn is_one_value(query: &Query, key: &Expr) -> bool {
    let conjuncts = select(query).and_then(|select| select.filter.as_ref()).map_or_else(Vec::new, Expr::conjuncts);
    conjuncts.into_iter().any(|conjunct| match &conjunct.kind {
        ExprKind::Binary { op, left, right } if op == "=" => {
            let is_given = |expr: &Expr| !expr.exprs().iter().any(|e| matches!(e.kind, ExprKind::Column { .. }));
            same_column(left, key) && is_given(right) || same_column(right, key) && is_given(left)
        }
        _ => false,
    })
}

/// Whether it is one of the keys of DISTINCT ON.
fn groups_by(query: &Query, key: &Expr) -> bool {
    let keys = select(query).and_then(|select| select.distinct.as_ref());
    keys.is_some_and(|(keys, _)| keys.iter().any(|distinct| same_column(distinct, key)))
}
