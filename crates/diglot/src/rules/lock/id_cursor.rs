//! A cursor follows numbers that become visible out of order.

use crate::rules::Context;
use crate::rules::look::{branches, split};
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::schema::Fill;
use crate::tree::{Expr, ExprKind, Part};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for query in context.page.tree.parts.iter().flat_map(Part::queries) {
        let mut selects = Vec::new();
        branches(&query.rows, &mut selects);
        let mut conditions = Vec::new();
        selects.iter().for_each(|select| split(select.filter.as_ref(), &mut conditions));
        for condition in conditions {
            let ExprKind::Binary { op, left, right } = &condition.kind else { continue };
            let (column, value) = match op.as_str() {
                ">" | ">=" => (left, right),
                "<" | "<=" => (right, left),
                _ => continue,
            };
            let numbered = context.column(column).filter(|(_, column)| column.fill == Fill::Numbered);
            let ordered = query.order.iter().any(|key| same(&key.expr, column));
            if let (Some((table, known)), true, ExprKind::Param(_)) = (numbered, ordered, &value.kind) {
                let message = format!("{}: `{}.{}` is followed in its order", context.name(), table.name, known.name);
                let label = "a smaller number may become visible later";
                let finding = Diagnostic::error(rule::ID_CURSOR, message, condition.span, label);
                let help = "or say what keeps the reader behind open transactions: `-- allow(id-cursor): <what>`";
                found.push(finding.help("bound the ids by what is settled").help(help));
            }
        }
    }
}

fn same(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Column { source, column }, ExprKind::Column { source: other, column: name }) => {
            source == other && column == name
        }
        _ => false,
    }
}
