//! Triggers of SQLite that refuse rows: what they raise an error for is what a CHECK forbids.
//!
//! Migrations of SQLite cannot add a CHECK to a table that is there, so they write two triggers, one for INSERT and one for
//! UPDATE. Both together say what the CHECK of the other schema says.

use std::collections::BTreeMap;
use std::ops::Range;

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};

use super::detail::Check;
use super::migration::Piece;
use super::read::Reader;
use super::text;
use crate::dialect::Dialect;
use crate::source::Span;
use crate::split::lexer::{self, Token};

/// One condition under which a trigger refuses a row.
#[derive(Debug)]
pub(super) struct Raising {
    trigger: String,
    table: String,
    /// Whether it fires on INSERT; else on UPDATE.
    on_insert: bool,
    /// What a row keeps to that is let through.
    allowed: Expr,
    span: Span,
}

impl Raising {
    /// Whether it belongs to a table.
    pub(super) fn is_of(&self, table: &str) -> bool {
        self.table == table
    }
}

/// The words of CREATE TRIGGER or DROP TRIGGER.
struct Words<'s> {
    sql: &'s str,
    tokens: Vec<Token>,
}

impl<'s> Words<'s> {
    fn of(sql: &'s str) -> Self {
        let tokens = lexer::tokens(sql, Dialect::Sqlite).into_iter().filter(|token| !token.is_comment()).collect();
        Self { sql, tokens }
    }

    fn text(&self, at: usize) -> &'s str {
        self.tokens.get(at).and_then(|token| self.sql.get(token.start..token.end)).unwrap_or_default()
    }

    fn is(&self, at: usize, word: &str) -> bool {
        self.text(at).eq_ignore_ascii_case(word)
    }

    fn find(&self, mut within: Range<usize>, word: &str) -> Option<usize> {
        within.find(|at| self.is(*at, word))
    }

    fn between(&self, tokens: Range<usize>) -> &'s str {
        let bounds = self.tokens.get(tokens.start).zip(self.tokens.get(tokens.end.wrapping_sub(1)));
        bounds.filter(|_| !tokens.is_empty()).and_then(|(a, b)| self.sql.get(a.start..b.end)).unwrap_or_default()
    }

    fn name(&self, at: usize) -> String {
        self.text(at).trim_matches(['"', '`', '[', ']']).to_lowercase()
    }

    /// The name behind TRIGGER and what may stand before it.
    fn trigger(&self) -> Option<String> {
        let at = self.find(1..4, "trigger")? + 1;
        if !(self.is(0, "create") || self.is(0, "drop")) {
            return None;
        }
        let at = if self.is(at, "if") { (at..at + 4).find(|at| self.is(*at, "exists"))? + 1 } else { at };
        Some(self.name(if self.text(at + 1) == "." { at + 2 } else { at }))
    }

    /// The conditions under which the body raises an error; none where it does something else as well.
    fn raised(&self, body: Range<usize>) -> Option<Vec<Option<String>>> {
        let mut raised = Vec::new();
        let mut start = body.start;
        for at in body.clone() {
            if self.text(at) != ";" {
                continue;
            }
            let raise = self.find(start..at, "raise")?;
            if !self.is(start, "select") || self.is(raise + 2, "ignore") {
                return None;
            }
            let close = self.find(raise..at, ")")?;
            raised.push(match (self.is(start + 1, "case"), self.is(start + 2, "when")) {
                (true, true) => {
                    let then = self.find(start..raise, "then")?;
                    (then + 1 == raise && self.is(close + 1, "end") && close + 2 == at)
                        .then(|| Some(self.between(start + 3..then).to_owned()))?
                }
                _ if raise == start + 1 && close + 1 == at => None,
                _ if raise == start + 1 && self.is(close + 1, "where") => Some(self.between(close + 2..at).to_owned()),
                _ => return None,
            });
            start = at + 1;
        }
        (start == body.end).then_some(raised)
    }
}

impl Reader {
    /// Takes in what a trigger of SQLite refuses.
    pub(super) fn raising(&mut self, piece: &Piece) {
        let words = Words::of(piece.sql());
        let Some(trigger) = words.trigger() else { return };
        let end = words.tokens.len();
        let Some(on) = words.find(0..end, "on") else { return };
        let Some(begin) = words.find(on..end, "begin") else { return };
        let Some(last) = (begin..end).rev().find(|at| words.is(*at, "end")) else { return };
        let table = words.name(if words.text(on + 2) == "." { on + 3 } else { on + 1 });
        let on_insert = words.find(0..on, "insert").is_some();
        if !on_insert && words.find(0..on, "update").is_none() {
            return;
        }
        let when = words.find(on..begin, "when").map(|when| words.between(when + 1..begin).to_owned());
        for raised in words.raised(begin + 1..last).unwrap_or_default() {
            let conditions: Vec<String> = when.iter().cloned().chain(raised).map(|one| format!("({one})")).collect();
            let sql = conditions.join(" AND ");
            // What a row was before, and what other rows say, is nothing that a CHECK knows.
            let is_plain = !Words::of(&sql).tokens.iter().any(|token| {
                let word = sql.get(token.start..token.end).unwrap_or_default().to_lowercase();
                ["old", "select", "exists"].contains(&word.as_str())
            });
            let Some(refused) = text::expression(&sql, Dialect::Sqlite).filter(|_| is_plain && !sql.is_empty()) else {
                continue;
            };
            let (trigger, table, allowed) = (trigger.clone(), table.clone(), negated(&refused));
            self.raising.push(Raising { trigger, table, on_insert, allowed, span: piece.span });
        }
    }

    /// Forgets a trigger that is dropped.
    pub(super) fn forget_raising(&mut self, piece: &Piece) {
        if let Some(name) = Words::of(piece.sql()).trigger() {
            self.raising.retain(|raising| raising.trigger != name);
        }
    }

    /// Gives tables the checks that triggers are in the place of.
    pub(super) fn settle_raising(&mut self) {
        let mut told: BTreeMap<(String, String), Vec<Raising>> = BTreeMap::new();
        for raising in std::mem::take(&mut self.raising) {
            told.entry((raising.table.clone(), text::condition(&raising.allowed))).or_default().push(raising);
        }
        for ((table, condition), all) in told {
            let both = all.iter().any(|one| one.on_insert) && all.iter().any(|one| !one.on_insert);
            let Some(table) = self.schema.tables.get_mut(&table).filter(|_| both) else { continue };
            let (Some(first), false) = (all.first(), table.checks.iter().any(|check| check.condition == condition))
            else {
                continue;
            };
            let (conjuncts, written) = (text::conjuncts(&first.allowed), without_new(&first.allowed.to_string()));
            let (holds_of_all_rows, ranges) = (false, BTreeMap::new());
            let span = first.span;
            table.checks.push(Check { name: None, condition, conjuncts, written, holds_of_all_rows, ranges, span });
        }
    }
}

/// An expression as SQL without the word for the row that is written.
fn without_new(sql: &str) -> String {
    ["NEW.", "new.", "New."].iter().fold(sql.to_owned(), |sql, word| sql.replace(word, ""))
}

/// What holds where a condition does not, NULL aside, which lets a row through in either form.
fn negated(expr: &Expr) -> Expr {
    use BinaryOperator::{And, Eq, Gt, GtEq, Lt, LtEq, NotEq, Or};
    match expr.clone() {
        Expr::Nested(inner) => Expr::Nested(Box::new(negated(&inner))),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => *expr,
        Expr::InList { expr, list, negated } => Expr::InList { expr, list, negated: !negated },
        Expr::Between { expr, negated, low, high } => Expr::Between { expr, negated: !negated, low, high },
        Expr::IsNull(inner) => Expr::IsNotNull(inner),
        Expr::IsNotNull(inner) => Expr::IsNull(inner),
        Expr::BinaryOp { left, op, right } => {
            let turned = match op {
                And | Or => {
                    let op = if op == And { Or } else { And };
                    let (left, right) = (Box::new(negated(&left)), Box::new(negated(&right)));
                    return Expr::BinaryOp { left, op, right };
                }
                Eq => NotEq,
                NotEq => Eq,
                Lt => GtEq,
                LtEq => Gt,
                Gt => LtEq,
                GtEq => Lt,
                op => {
                    let inner = Box::new(Expr::Nested(Box::new(Expr::BinaryOp { left, op, right })));
                    return Expr::UnaryOp { op: UnaryOperator::Not, expr: inner };
                }
            };
            Expr::BinaryOp { left, op: turned, right }
        }
        other => Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(Expr::Nested(Box::new(other))) },
    }
}
