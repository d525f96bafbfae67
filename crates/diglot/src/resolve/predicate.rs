//! Tests and subqueries in expressions: IS, BETWEEN, IN, EXISTS, LIKE, ANY, and the scalar subquery.

use sqlparser::ast::{self, BinaryOperator};

use super::{Lower, call, functions};
use crate::source::Span;
use crate::tree::{Expr, ExprKind, Query, Rows};
use crate::types::{Base, Type};

impl Lower<'_> {
    pub(super) fn is(&mut self, operand: &ast::Expr, what: &'static str, negated: bool) -> Expr {
        let operand = self.expr(operand);
        let last = self.text.last_of(operand.span);
        let words = match (self.text.is_word(last + 1, "ISNULL") || self.text.is_word(last + 1, "NOTNULL"), negated) {
            (true, _) => 1,
            (false, true) if !self.text.is_word(last + 1, "IS") => 2,
            (false, negated) => 2 + usize::from(negated),
        };
        let span = operand.span.to(self.text.bytes(last, last + words));
        let kind = ExprKind::Is { expr: Box::new(operand), what, negated };
        Expr { kind, ty: Some(Type::required(Base::Bool)), span }
    }

    fn truth(&self, nullable: bool) -> Option<Type> {
        Some(Type { base: Base::Bool, nullable })
    }

    pub(super) fn between(&mut self, operand: &ast::Expr, low: &ast::Expr, high: &ast::Expr, negated: bool) -> Expr {
        let [expr, mut low, mut high] = [operand, low, high].map(|e| Box::new(self.expr(e)));
        self.hint_each_other(&expr, &low);
        self.hint_each_other(&expr, &high);
        let mut expr = expr;
        self.hold_each_other(&mut expr, &mut low);
        self.hold_each_other(&mut expr, &mut high);
        let is_between = |word: &Span| word.start >= expr.span.end && word.end <= low.span.start;
        if self.edited.symmetric.iter().any(is_between) {
            // Between the lesser and the greater of the two, whichever stands first.
            let ends = || vec![(*low).clone(), (*high).clone()];
            let (least, greatest) = (call::plain("least", ends()), call::plain("greatest", ends()));
            let places = (low.span, high.span);
            low = Box::new(self.typed_call(least, places.0));
            high = Box::new(self.typed_call(greatest, places.1));
        }
        let nullable = [&expr, &low, &high].into_iter().any(|e| self.may_be_null(e));
        let span = expr.span.to(high.span);
        Expr { ty: self.truth(nullable), span, kind: ExprKind::Between { expr, low, high, negated } }
    }

    pub(super) fn in_list(&mut self, operand: &ast::Expr, list: &[ast::Expr], negated: bool) -> Expr {
        let operand = Box::new(self.expr(operand));
        let list: Vec<_> = list.iter().map(|item| self.expr(item)).collect();
        for item in &list {
            self.hint_each_other(&operand, item);
        }
        let nullable = list.iter().any(|e| self.may_be_null(e)) || self.may_be_null(&operand);
        let after = self.text.last_of(operand.span) + 2 + usize::from(negated);
        let last = self.text.partner(after).unwrap_or(after);
        let span = operand.span.to(self.text.bytes(last, last));
        Expr { ty: self.truth(nullable), span, kind: ExprKind::InList { expr: operand, list, negated } }
    }

    pub(super) fn in_query(&mut self, operand: &ast::Expr, query: &ast::Query, negated: bool) -> Expr {
        let operand = Box::new(self.expr(operand));
        let query = Box::new(self.query(query));
        if let Some(list) = query.taken_apart() {
            self.hint_each_other(&operand, list);
        }
        let values = query.columns();
        let nullable =
            self.may_be_null(&operand) || values.iter().any(|(_, ty)| ty.as_ref().is_none_or(|ty| ty.nullable));
        let span = operand.span.to(self.text.widen_over_brackets(query.span));
        let kind = ExprKind::InQuery { expr: operand, query, negated };
        Expr { ty: self.truth(nullable), span, kind }
    }

    pub(super) fn exists(&mut self, query: &ast::Query, negated: bool) -> Expr {
        let query = Box::new(self.query(query));
        let brackets = self.text.widen_over_brackets(query.span);
        let words = 1 + usize::from(negated);
        let first = self.text.first_of(brackets).saturating_sub(words);
        let span = self.text.bytes(first, first).to(brackets);
        Expr { kind: ExprKind::Exists { query, negated }, ty: self.truth(false), span }
    }

    pub(super) fn scalar(&mut self, query: &ast::Query) -> Expr {
        let query = Box::new(self.query(query));
        let span = self.text.widen_over_brackets(query.span);
        let always = always_one_row(&query);
        let value = query.columns().into_iter().next().and_then(|(_, ty)| ty);
        let ty = value.map(|ty| Type { nullable: ty.nullable || !always, ..ty });
        Expr { kind: ExprKind::Scalar(query), ty, span }
    }

    pub(super) fn any(&mut self, left: &ast::Expr, op: &BinaryOperator, right: &ast::Expr, all: bool) -> Expr {
        let (left, right) = (self.expr(left), self.expr(right));
        self.hint_each_other(&left, &right);
        let nullable = self.may_be_null(&left) || self.may_be_null(&right);
        let span = left.span.to(self.text.widen_over_brackets(right.span));
        let op = op.to_string().to_lowercase();
        let kind = ExprKind::Any { op, left: Box::new(left), right: Box::new(right), all };
        Expr { kind, ty: self.truth(nullable), span }
    }

    pub(super) fn like(
        &mut self,
        op: &'static str,
        operand: &ast::Expr,
        pattern: &ast::Expr,
        escape: Option<&ast::Expr>,
        negated: bool,
    ) -> Expr {
        let (operand, pattern) = (self.expr(operand), self.expr(pattern));
        let escape = escape.map(|e| self.expr(e));
        self.like_of(op, operand, pattern, escape, negated)
    }

    pub(super) fn like_of(
        &mut self,
        op: &'static str,
        expr: Expr,
        pattern: Expr,
        escape: Option<Expr>,
        negated: bool,
    ) -> Expr {
        self.hint_each_other(&expr, &pattern);
        let nullable = self.may_be_null(&expr) || self.may_be_null(&pattern);
        let span = expr.span.to(escape.as_ref().map_or(pattern.span, |e| e.span));
        let escape = escape.map(|e| match e.kind {
            ExprKind::Text(text) => text,
            _ => self.sources.text(e.span).to_owned(),
        });
        let (expr, pattern) = (Box::new(expr), Box::new(pattern));
        Expr { kind: ExprKind::Like { op, expr, pattern, escape, negated }, ty: self.truth(nullable), span }
    }
}

/// Whether a query without GROUP BY gives its aggregates in exactly one row.
fn always_one_row(query: &Query) -> bool {
    let Rows::Select(select) = &query.rows else { return false };
    let plain = query.limit.is_none() && query.offset.is_none() && select.having.is_none() && select.group.is_empty();
    plain && select.columns.iter().any(|column| functions::is_aggregate_call(&column.expr))
}
