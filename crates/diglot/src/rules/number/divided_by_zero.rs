//! A divisor may be zero.

use crate::rules::Context;
use crate::rules::look::is_same;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Expr, ExprKind};

/// Settings that tell how a server was built: numbers above zero, which nobody can set.
const BUILT_IN: [&str; 6] = [
    "block_size",
    "max_function_args",
    "max_identifier_length",
    "max_index_keys",
    "server_version_num",
    "wal_block_size",
];

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for expr in &context.exprs {
        let divisor = match &expr.kind {
            ExprKind::Binary { op, right, .. } if op == "/" || op == "%" => right,
            ExprKind::Call { name, args, .. } if name == "mod" && args.len() == 2 => &args[1],
            _ => continue,
        };
        if !is_never_zero(context, divisor) && !is_asked(context, divisor, &context.held(expr)) {
            let message = format!("{}: the divisor may be zero", context.name());
            let label = "NULL on SQLite, an error on Postgres";
            let finding = Diagnostic::error(rule::DIVIDED_BY_ZERO, message, divisor.span, label);
            let finding = finding.help("write `NULLIF(…, 0)` around the divisor, on both pages");
            let setting = context.range_help(divisor, (1, 1_000_000));
            found.push(setting.into_iter().fold(finding, Diagnostic::help));
        }
    }
}

fn is_never_zero(context: &Context<'_>, divisor: &Expr) -> bool {
    match &divisor.kind {
        ExprKind::Number(text) => text.bytes().any(|digit| (b'1'..=b'9').contains(&digit)),
        ExprKind::Unary { op, expr } if op == "-" || op == "+" => is_never_zero(context, expr),
        ExprKind::Cast { expr, .. } => is_never_zero(context, expr),
        ExprKind::Call { name, args, .. } => match name.as_str() {
            "nullif" => matches!(&args.get(1).map(|arg| &arg.kind), Some(ExprKind::Number(text)) if text == "0"),
            "current_setting" => {
                matches!(args.first().map(|arg| &arg.kind), Some(ExprKind::Text(name)) if BUILT_IN.contains(&name.as_str()))
            }
            "greatest" | "max" => args.iter().any(|arg| is_positive(context, arg)),
            _ => false,
        },
        ExprKind::Null => true,
        _ => is_positive(context, divisor),
    }
}

/// Whether conditions that hold leave out zero.
fn is_asked(context: &Context<'_>, divisor: &Expr, held: &[&Expr]) -> bool {
    let is_zero = |expr: &Expr| matches!(&expr.kind, ExprKind::Number(text) if text == "0");
    let told = held.iter().any(|condition| match &condition.kind {
        ExprKind::Binary { op, left, right } if op == "<>" => {
            is_zero(right) && is_same(left, divisor) || is_zero(left) && is_same(right, divisor)
        }
        _ => false,
    });
    told || context.bounds_where(divisor, held).is_some_and(|bounds| bounds.least > 0 || bounds.most < 0)
}

fn is_positive(context: &Context<'_>, expr: &Expr) -> bool {
    let begins = |of: &str, name: &str| context.config.prove.range(of, name).is_some_and(|(least, _)| least > 0);
    match &expr.kind {
        ExprKind::Number(text) => text.parse::<f64>().is_ok_and(|number| number > 0.0),
        ExprKind::Param(name) => begins(context.name(), name),
        ExprKind::Column { .. } => {
            context.column(expr).is_some_and(|(table, column)| begins(&table.name, &column.name))
        }
        _ => false,
    }
}
