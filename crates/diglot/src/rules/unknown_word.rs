//! A literal is not among the words of its column.
//!
//! # What it finds
//!
//! A text literal that is compared with, assigned to or inserted into a column which `[words]` of `diglot.toml`
//! lists, and is not in the list.
//!
//! # Why it bites
//!
//! A misspelled state matches nothing and fails nowhere.
//!
//! # Write instead
//!
//! A word of the list, or the list with the new word.
//!
//! # Example
//!
//! ```text
//! [words]
//! "ff_exec_core.lifecycle_phase" = ["submitted", "runnable", "active", "terminal"]
//! ```

use super::{Context, look};
use crate::diagnostic::Diagnostic;
use crate::tree::{Expr, ExprKind, SourceKind};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if context.config.words.is_empty() {
        return;
    }
    let tree = context.page.tree;
    for expr in &context.exprs {
        match &expr.kind {
            ExprKind::Binary { op, left, right } if op == "=" || op == "<>" => {
                compared(context, left, &[right], found);
                compared(context, right, &[left], found);
            }
            ExprKind::InList { expr, list, .. } => compared(context, expr, &list.iter().collect::<Vec<_>>(), found),
            ExprKind::Case { operand: Some(operand), branches, .. } => {
                compared(context, operand, &branches.iter().map(|(when, _)| when).collect::<Vec<_>>(), found);
            }
            _ => {}
        }
    }
    for part in &tree.parts {
        let Some(SourceKind::Table(table)) = part.target().map(|target| &target.kind) else { continue };
        look::stored(part).into_iter().for_each(|(column, value)| stored(context, table, column, value, found));
    }
}

fn compared(context: &Context<'_>, column: &Expr, values: &[&Expr], found: &mut Vec<Diagnostic>) {
    let ExprKind::Column { source, column } = &column.kind else { return };
    let Some(SourceKind::Table(table)) = context.by_id.get(source).map(|source| &source.kind) else { return };
    for value in values {
        stored(context, table, column, value, found);
    }
}

/// Looks at every literal that the value can be.
fn stored(context: &Context<'_>, table: &str, column: &str, value: &Expr, found: &mut Vec<Diagnostic>) {
    let words = &context.config.words;
    let Some(known) = words.get(&format!("{table}.{column}")).or_else(|| words.get(&format!("*.{column}"))) else {
        return;
    };
    match &value.kind {
        ExprKind::Text(word) if !known.contains(word) => {
            let message = format!("{}: `{word}` is not a word of `{table}.{column}`", context.name());
            let finding = Diagnostic::error("unknown-word", message, value.span, "not in the list");
            found.push(finding.help(format!("the words are: {}; the list is in `diglot.toml`", known.join(", "))));
        }
        ExprKind::Cast { expr, .. } => stored(context, table, column, expr, found),
        ExprKind::Case { branches, otherwise, .. } => {
            branches.iter().for_each(|(_, then)| stored(context, table, column, then, found));
            if let Some(otherwise) = otherwise {
                stored(context, table, column, otherwise, found);
            }
        }
        ExprKind::Call { name, args, .. } if name == "coalesce" || name == "ifnull" => {
            args.iter().for_each(|arg| stored(context, table, column, arg, found));
        }
        _ => {}
    }
}
