//! A number does not fit into 64 bits.
//!
//! # What it finds
//!
//! An integer literal beyond 64 bits on a page of a pair.
//!
//! # Why it bites
//!
//! SQLite reads it as a real number and loses digits, Postgres as numeric, which no bigint column takes.
//!
//! # Write instead
//!
//! A number that fits, or bytes.
//!
//! # Example
//!
//! ```text
//! 9223372036854775807
//! ```

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::tree::ExprKind;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if context.facing.is_none() {
        return;
    }
    for expr in &context.exprs {
        let ExprKind::Number(text) = &expr.kind else { continue };
        if text.bytes().all(|b| b.is_ascii_digit()) && text.parse::<i64>().is_err() {
            let message = format!("{}: the number does not fit into 64 bits", context.name());
            let finding = Diagnostic::error("huge-number", message, expr.span, "another type on each engine");
            found.push(finding.help("write a number that fits, or keep it as bytes"));
        }
    }
}
