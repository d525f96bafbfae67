//! A column is neither grouped nor aggregated.

use crate::rules::Context;
use crate::rules::look::selects;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::resolve::is_aggregate;
use crate::rule;
use crate::source::Span;
use crate::tree::{Expr, ExprKind, Select, SourceId};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if context.page.tree.dialect != Dialect::Pg {
        return;
    }
    for select in context.page.tree.parts.iter().flat_map(selects).filter(|select| !select.group.is_empty()) {
        for column in &select.columns {
            let mut bare = Vec::new();
            outside(&column.expr, select, &mut bare);
            for (span, source, name) in bare.into_iter().filter(|(_, source, _)| !is_keyed(context, select, *source)) {
                let message = format!(
                    "{}: `{}.{name}` is neither grouped nor aggregated",
                    context.name(),
                    alias(context, source)
                );
                let finding = Diagnostic::error(rule::GROUP_BARE_COLUMN, message, span, "of which row of the group?");
                found.push(finding.help("put it into an aggregate, or among the keys of GROUP BY"));
            }
        }
    }
}

fn alias<'c>(context: &'c Context<'_>, source: SourceId) -> &'c str {
    context.by_id.get(&source).map_or("", |source| source.alias.as_str())
}

/// The columns outside aggregates that are no keys.
fn outside<'e>(expr: &'e Expr, select: &Select, found: &mut Vec<(Span, SourceId, &'e str)>) {
    if is_key(expr, select) {
        return;
    }
    match &expr.kind {
        ExprKind::Column { source, column } if select.from.iter().any(|known| known.id == *source) => {
            found.push((expr.span, *source, column));
        }
        ExprKind::Call { name, args, over: None, .. } if is_aggregate(name, args.len()) => {}
        ExprKind::Call { args, over: None, .. } => args.iter().for_each(|arg| outside(arg, select, found)),
        ExprKind::Cast { expr, .. } | ExprKind::Unary { expr, .. } => outside(expr, select, found),
        ExprKind::Binary { left, right, .. } => {
            outside(left, select, found);
            outside(right, select, found);
        }
        _ => {}
    }
}

/// Whether an expression is grouped by. What is grouped by an expression is not told apart here.
fn is_key(expr: &Expr, select: &Select) -> bool {
    select.group.iter().any(|key| match (&key.kind, &expr.kind) {
        (ExprKind::Column { source, column }, ExprKind::Column { source: other, column: name }) => {
            source == other && name == column
        }
        (ExprKind::Column { .. }, _) => false,
        _ => true,
    })
}

/// Whether the keys hold the primary key of a table; nothing is known of other sources.
fn is_keyed(context: &Context<'_>, select: &Select, source: SourceId) -> bool {
    let Some(table) = context.table(source) else { return true };
    let holds = |column: &String| {
        select.group.iter().any(|key| match &key.kind {
            ExprKind::Column { source: other, column: name } => *other == source && name == column,
            _ => false,
        })
    };
    !table.primary_key.is_empty() && table.primary_key.iter().all(holds)
}
