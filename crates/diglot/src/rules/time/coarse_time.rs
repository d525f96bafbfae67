//! A time is sorted by that one page keeps in seconds.

use crate::rules::Context;
use crate::rules::look::is_comparison;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::schema::{Column, Fill, Schema};
use crate::source::Span;
use crate::tree::{Expr, ExprKind};
use crate::types::Form;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(facing) = context.facing.filter(|_| context.is_sqlite_of_pair()) else { return };
    let mut report = |expr: &Expr, at: Span| {
        let Some((table, column)) = context.column(expr) else { return };
        if !is_cut(column) || !is_finer(context, facing.schema, &table.name, &column.name) {
            return;
        }
        let message = format!("{}: `{}.{}` has seconds on SQLite alone", context.name(), table.name, column.name);
        let finding = Diagnostic::warning(rule::COARSE_TIME, message, at, "rows of one second have one place here");
        found.push(
            finding
                .help("keep as many digits in both schemas: milliseconds on SQLite, or `timestamptz(0)` on Postgres"),
        );
    };
    for query in context.page.tree.parts.iter().flat_map(|part| part.queries()) {
        query.order.iter().for_each(|key| report(&key.expr, key.span));
    }
    for expr in &context.exprs {
        match &expr.kind {
            ExprKind::Binary { op, left, right } if is_comparison(op) && context.column(right).is_some() => {
                report(left, expr.span);
            }
            ExprKind::Call { order, over, .. } => {
                let keys = order.iter().chain(over.iter().flat_map(|window| &window.order));
                keys.for_each(|key| report(&key.expr, key.span));
            }
            _ => {}
        }
    }
}

/// Whether a column keeps whole seconds of times.
fn is_cut(column: &Column) -> bool {
    let form = column.ty.base.stored().map(|stored| stored.form);
    matches!(form, Some(Form::Seconds | Form::Datetime | Form::Iso))
}

/// Whether Postgres has more of the time than that.
fn is_finer(context: &Context<'_>, pg: &Schema, table: &str, column: &str) -> bool {
    let Some(column) = pg.tables.get(table).and_then(|table| table.column(column)) else { return false };
    let reads_clock = match &column.fill {
        Fill::Value(text) => ["now", "current_timestamp", "clock_timestamp"].iter().any(|clock| text.contains(clock)),
        _ => false,
    };
    column.ty.base.is_time() && !column.declared.contains("(0)") && (reads_clock || !context.config.generate.enabled)
}
