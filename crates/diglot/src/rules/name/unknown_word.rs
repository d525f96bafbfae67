//! A text is not among the words of its column.

use crate::rules::{Context, look};
use crate::diagnostic::Diagnostic;
use crate::infer::handed::Handed;
use crate::infer::origin::Sources;
use crate::infer::walk;
use crate::rule;
use crate::schema::Listed;
use crate::schema::words::unknown;
use crate::tree::{Body, Expr, ExprKind, Part, SourceKind};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let tables = || context.page.schema.tables.values().flat_map(|table| &table.columns);
    if tables().all(|column| column.words.is_none()) {
        return;
    }
    let mut look = Look { context, sources: walk::sources(context.page.tree), found: Vec::new() };
    context.exprs.iter().for_each(|expr| look.compared(expr));
    context.page.tree.parts.iter().for_each(|part| look.stored(part));
    // What several places name is told once.
    let mut told = Vec::new();
    look.found.retain(|finding| {
        let places: Vec<_> = finding.labels.iter().map(|label| label.span).collect();
        let is_new = !told.contains(&places);
        told.push(places);
        is_new
    });
    found.append(&mut look.found);
}

struct Look<'c, 'a> {
    context: &'c Context<'a>,
    sources: Sources<'a>,
    found: Vec<Diagnostic>,
}

impl<'a> Look<'_, 'a> {
    /// Texts that are compared with a column.
    fn compared(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Binary { op, left, right } if is_equality(op) => self.meet(left, right),
            ExprKind::InList { expr, list, .. } => list.iter().for_each(|item| self.meet(expr, item)),
            ExprKind::Any { left, right, .. } => {
                if let ExprKind::Array(items) = &look::bare(right).kind {
                    items.iter().for_each(|item| self.meet(left, item));
                }
            }
            ExprKind::InQuery { expr, query, .. } => {
                let (left, right) = (self.by(expr), Handed::by_rows(&self.sources, &query.rows, 0));
                self.facing(&left, &right);
                self.facing(&right, &left);
            }
            ExprKind::Case { operand: Some(operand), branches, .. } => {
                branches.iter().for_each(|(when, _)| self.meet(operand, when));
            }
            _ => {}
        }
    }

    fn meet(&mut self, left: &'a Expr, right: &'a Expr) {
        if let (ExprKind::Tuple(lefts), ExprKind::Tuple(rights)) = (&left.kind, &right.kind) {
            lefts.iter().zip(rights).for_each(|(left, right)| self.meet(left, right));
            return;
        }
        let (left, right) = (self.by(left), self.by(right));
        self.facing(&left, &right);
        self.facing(&right, &left);
    }

    fn by(&self, expr: &'a Expr) -> Handed<'a> {
        Handed::by(&self.sources, expr)
    }

    /// Holds the texts of one side against the words of the other. A text that the other side names itself, for a NULL
    /// say, is one of what it may be.
    fn facing(&mut self, columns: &Handed<'a>, texts: &Handed<'a>) {
        let listed: Option<Vec<(&Listed, String)>> = columns
            .origins
            .iter()
            .map(|origin| {
                Some((self.listed(origin.table, origin.column)?, format!("{}.{}", origin.table, origin.column)))
            })
            .collect();
        // Where a side may be anything else, a text may be meant for that.
        let Some(listed) = listed.filter(|listed| !listed.is_empty() && !columns.other) else { return };
        for (text, span) in &texts.texts {
            let is_known = listed.iter().any(|(listed, _)| listed.words.iter().any(|word| word == text))
                || columns.texts.iter().any(|(own, _)| own == text);
            if let Some((listed, column)) = listed.first().filter(|_| !is_known) {
                self.found.push(finding(self.context, text, *span, column, listed));
            }
        }
    }

    /// Texts that a part writes.
    fn stored(&mut self, part: &'a Part) {
        let Some(SourceKind::Table(table)) = part.target().map(|target| &target.kind) else { return };
        let mut written: Vec<(&str, Handed<'a>)> =
            look::assignments(part).iter().map(|set| (set.column.as_str(), self.by(&set.value))).collect();
        if let Body::Insert(insert) = &part.body {
            let columns = insert.columns.iter().enumerate();
            let rows = |at| Handed::by_rows(&self.sources, &insert.rows.rows, at);
            written.extend(columns.map(|(at, (column, _))| (column.as_str(), rows(at))));
        }
        for (column, value) in written {
            let Some(listed) = self.listed(table, column) else { continue };
            let is_unknown = |text: &str| !listed.words.iter().any(|word| word == text);
            let unknown = value.texts.iter().filter(|(text, _)| is_unknown(text));
            let column = format!("{table}.{column}");
            let findings: Vec<Diagnostic> =
                unknown.map(|(text, span)| finding(self.context, text, *span, &column, listed)).collect();
            self.found.extend(findings);
        }
    }

    fn listed(&self, table: &str, column: &str) -> Option<&'a Listed> {
        let schema = self.context.page.schema;
        schema.tables.get(table)?.column(column)?.words.as_deref()
    }
}

fn is_equality(op: &str) -> bool {
    ["=", "<>", "is distinct from", "is not distinct from"].contains(&op)
}

fn finding(context: &Context<'_>, text: &str, span: crate::source::Span, column: &str, listed: &Listed) -> Diagnostic {
    let message = format!("{}: `{text}` is not a word of `{column}`", context.name());
    let finding = Diagnostic::error(rule::UNKNOWN_WORD, message, span, "not in the list");
    finding.help(unknown(listed))
}
