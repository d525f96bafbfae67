//! Casts and typed literals, and COLLATE.

use sqlparser::ast::{self, CastKind};
use sqlparser::tokenizer::Token;

use super::{Lower, types};
use crate::source::Span;
use crate::tree::{Expr, ExprKind};
use crate::types::{Base, Type};

impl Lower<'_> {
    pub(super) fn cast(&mut self, kind: &CastKind, operand: &ast::Expr, to: &ast::DataType) -> Expr {
        let operand = self.expr(operand);
        let span = match kind {
            CastKind::DoubleColon => {
                let last = self.text.last_of(operand.span);
                operand.span.to(self.text.bytes(last, self.type_end(last + 2)))
            }
            _ => {
                let open = self.text.first_of(operand.span).saturating_sub(1);
                let close = self.text.partner(open).unwrap_or_else(|| self.text.last_of(operand.span));
                self.text.bytes(open.saturating_sub(1), close)
            }
        };
        self.cast_of(operand, &to.to_string(), span)
    }

    /// Builds a cast.
    pub(super) fn cast_of(&mut self, operand: Expr, to: &str, span: Span) -> Expr {
        let to = to.to_lowercase();
        let words = || self.schema.enums.get(to.rsplit('.').next().unwrap_or(&to).trim_matches('"'));
        let base = types::named(self.dialect, &to).or_else(|| words().map(|words| Base::Enum(Box::new(words.clone()))));
        let nullable = !matches!(operand.kind, ExprKind::Text(_)) && self.may_be_null(&operand);
        let ty = base.clone().map(|base| Type { base, nullable });
        Expr { kind: ExprKind::Cast { expr: Box::new(operand), to, base }, ty, span }
    }

    /// The last token of a type name that begins at `start`.
    fn type_end(&self, start: usize) -> usize {
        let mut last = start;
        loop {
            last = match self.text.token(last + 1) {
                Some(Token::Period) => last + 2,
                Some(Token::LParen | Token::LBracket) => self.text.partner(last + 1).unwrap_or(last + 1),
                Some(Token::Word(_)) if self.continues_type(start, last + 1) => last + 1,
                _ => return last,
            };
        }
    }

    fn continues_type(&self, start: usize, next: usize) -> bool {
        let is = |index: usize, words: &[&str]| words.iter().any(|word| self.text.is_word(index, word));
        match next {
            next if is(next, &["PRECISION"]) => is(start, &["DOUBLE"]),
            next if is(next, &["VARYING"]) => is(start, &["CHARACTER", "CHAR", "BIT"]),
            next if is(next, &["WITH", "WITHOUT", "TIME", "ZONE"]) => {
                is(start, &["TIMESTAMP", "TIME"]) && is(next + 1, &["TIME", "ZONE"]) | is(next, &["ZONE"])
            }
            _ => false,
        }
    }

    pub(super) fn typed_string(&mut self, typed: &ast::TypedString) -> Expr {
        let text = self.value(&typed.value);
        let first = self.text.first_of(text.span).saturating_sub(1);
        let span = self.text.bytes(first, first).to(text.span);
        self.cast_of(text, &typed.data_type.to_string(), span)
    }

    pub(super) fn interval(&mut self, value: &ast::Expr, field: Option<&ast::DateTimeField>) -> Expr {
        let text = self.expr(value);
        let first = self.text.first_of(text.span).saturating_sub(1);
        let mut span = self.text.bytes(first, first).to(text.span);
        let mut to = "interval".to_owned();
        if let Some(field) = field {
            to = format!("interval {field}");
            let last = self.text.last_of(span);
            span = span.to(self.text.bytes(last, last + 1));
        }
        self.cast_of(text, &to, span)
    }

    pub(super) fn collate(&mut self, operand: &ast::Expr, collation: &ast::ObjectName) -> Expr {
        let operand = self.expr(operand);
        let span = operand.span.to(self.place(collation));
        let collation =
            collation.0.last().and_then(|part| part.as_ident()).map_or_else(String::new, |i| i.value.clone());
        Expr { ty: operand.ty.clone(), span, kind: ExprKind::Collate { expr: Box::new(operand), collation } }
    }
}
