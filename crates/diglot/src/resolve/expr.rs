//! Expressions: from sqlparser's tree to ours, every name resolved, every node typed and placed.

use sqlparser::ast::{self, AccessExpr, BinaryOperator, CastKind, Spanned, Subscript, UnaryOperator, Value};

use super::Lower;
use super::edit::Leaf;
use super::types;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::rule;
use crate::source::Span;
use crate::tree::{Expr, ExprKind};
use crate::types::{Base, Type};

/// How many operands a chain such as `a OR b OR c` may have.
const CHAIN: usize = 200;

impl Lower<'_> {
    /// Lowers an expression.
    pub(super) fn expr(&mut self, node: &ast::Expr) -> Expr {
        use ast::Expr as E;
        match node {
            E::Identifier(ident) => self.identifier(ident, node),
            E::CompoundIdentifier(parts) => {
                let span = self.place(node);
                match parts.as_slice() {
                    [.., owner, name] => self.column(Some(owner), name, span),
                    _ => self.opaque(span, None),
                }
            }
            E::Nested(inner) => {
                let mut inner = self.expr(inner);
                inner.span = self.text.widen_over_brackets(inner.span);
                inner
            }
            E::Value(value) => self.value(value),
            E::BinaryOp { .. } => self.chain(node),
            E::UnaryOp { op, expr } => self.unary(op, expr),
            E::IsNull(expr) => self.is(expr, "null", false),
            E::IsNotNull(expr) => self.is(expr, "null", true),
            E::IsTrue(expr) => self.is(expr, "true", false),
            E::IsNotTrue(expr) => self.is(expr, "true", true),
            E::IsFalse(expr) => self.is(expr, "false", false),
            E::IsNotFalse(expr) => self.is(expr, "false", true),
            E::IsUnknown(expr) => self.is(expr, "unknown", false),
            E::IsNotUnknown(expr) => self.is(expr, "unknown", true),
            E::IsDistinctFrom(left, right) => self.compared("is distinct from", left, right),
            E::IsNotDistinctFrom(left, right) => self.compared("is not distinct from", left, right),
            E::Between { expr, negated, low, high } => self.between(expr, low, high, *negated),
            E::InList { expr, list, negated } => self.in_list(expr, list, *negated),
            E::InSubquery { expr, subquery, negated } => self.in_query(expr, subquery, *negated),
            E::Exists { subquery, negated } => self.exists(subquery, *negated),
            E::Subquery(query) => self.scalar(query),
            E::AnyOp { left, compare_op, right, is_some: _ } => self.any(left, compare_op, right, false),
            E::AllOp { left, compare_op, right } => self.any(left, compare_op, right, true),
            E::Like { negated, any: false, expr, pattern, escape_char } => {
                self.like("like", expr, pattern, escape_char.as_deref(), *negated)
            }
            E::ILike { negated, any: false, expr, pattern, escape_char } => {
                self.like("ilike", expr, pattern, escape_char.as_deref(), *negated)
            }
            E::RLike { negated, expr, pattern, regexp: true } => self.like("regexp", expr, pattern, None, *negated),
            E::Cast { kind: kind @ (CastKind::Cast | CastKind::DoubleColon), expr, data_type, format: None } => {
                self.cast(kind, expr, data_type)
            }
            E::TypedString(typed) => self.typed_string(typed),
            E::Collate { expr, collation } => self.collate(expr, collation),
            E::Case { operand, conditions, else_result, case_token: _, end_token: _ } => {
                self.case(node, operand.as_deref(), conditions, else_result.as_deref())
            }
            E::Tuple(items) => {
                let items: Vec<_> = items.iter().map(|item| self.expr(item)).collect();
                let span = self.text.widen_over_brackets(union(&items).unwrap_or(self.text.span));
                Expr { kind: ExprKind::Tuple(items), ty: None, span }
            }
            E::Array(array) => self.array(array, node),
            E::AtTimeZone { timestamp, time_zone } => self.compared("at time zone", timestamp, time_zone),
            E::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain, node),
            E::Function(function) => self.function(function),
            E::Interval(ast::Interval {
                value,
                leading_field,
                leading_precision: None,
                last_field: None,
                fractional_seconds_precision: None,
            }) => self.interval(value, leading_field.as_ref()),
            _ => match self.keyword_call(node) {
                Some(call) => call,
                None => {
                    let span = self.place(node);
                    self.opaque(span, None)
                }
            },
        }
    }

    /// The bytes of a node of sqlparser's tree, as far as it knows them.
    pub(super) fn place(&self, node: &impl Spanned) -> Span {
        match self.text.tokens_of(node) {
            Some((first, last)) => self.text.bytes(first, last),
            None => self.text.span,
        }
    }

    /// A node that is kept as its text.
    pub(super) fn opaque(&self, span: Span, ty: Option<Type>) -> Expr {
        let text = self.sources.text(span).split_whitespace().collect::<Vec<_>>().join(" ");
        Expr { kind: ExprKind::Opaque(text), ty, span }
    }

    /// Whether a value may be NULL. A parameter is only when it is declared so.
    pub(super) fn may_be_null(&self, expr: &Expr) -> bool {
        match (&expr.ty, &expr.kind) {
            (Some(ty), _) => ty.nullable,
            (None, ExprKind::Param(name)) => self.is_nullable_param(name),
            (None, ExprKind::Array(_)) => false,
            (None, ExprKind::Column { column, .. }) => !super::scope::PG_COLUMNS.contains(&column.as_str()),
            (None, ExprKind::Tuple(items)) => items.iter().any(|item| self.may_be_null(item)),
            (None, _) => true,
        }
    }

    fn identifier(&mut self, ident: &ast::Ident, node: &ast::Expr) -> Expr {
        let span = self.place(node);
        if ident.quote_style.is_none() {
            match ident.value.to_ascii_lowercase().as_str() {
                "default" => return self.opaque(span, None),
                "current_timestamp" | "current_date" | "current_time" => return self.clock_word(ident, span),
                _ => {}
            }
        }
        if let Some(row) = self.whole_row(ident, span) {
            return row;
        }
        self.column(None, ident, span)
    }

    pub(super) fn value(&mut self, value: &ast::ValueWithSpan) -> Expr {
        let span = self.place(value);
        let of = |kind, ty| Expr { kind, ty, span };
        let text = |text: &str| of(ExprKind::Text(text.to_owned()), Some(Type::required(Base::Text)));
        match &value.value {
            Value::Null => of(ExprKind::Null, None),
            Value::Boolean(yes) => of(ExprKind::Bool(*yes), Some(Type::required(Base::Bool))),
            Value::Number(digits, _) => {
                let base = types::number(self.dialect, digits);
                of(ExprKind::Number(digits.clone()), Some(Type::required(base)))
            }
            Value::HexStringLiteral(_) if self.sources.text(span).starts_with("0x") => {
                let base = types::number(self.dialect, "0");
                of(ExprKind::Number(self.sources.text(span).to_lowercase()), Some(Type::required(base)))
            }
            Value::HexStringLiteral(hex) => of(ExprKind::Blob(hex.to_lowercase()), Some(Type::required(Base::Bytes))),
            Value::Placeholder(index) => self.leaf(index, span),
            Value::DollarQuotedString(quoted) => text(&quoted.value),
            Value::SingleQuotedString(s)
            | Value::EscapedStringLiteral(s)
            | Value::UnicodeStringLiteral(s)
            | Value::NationalStringLiteral(s) => text(s),
            _ => self.opaque(span, None),
        }
    }

    fn leaf(&self, index: &str, span: Span) -> Expr {
        let leaf = index.get(1..).and_then(|n| n.parse::<usize>().ok()).and_then(|n| self.edited.leaves.get(n));
        match leaf {
            Some(Leaf::Param(n)) => {
                let name = self.edited.params.get(*n).map_or_else(String::new, |param| param.name.clone());
                Expr { kind: ExprKind::Param(name), ty: None, span }
            }
            Some(Leaf::EmptyArray) => Expr { kind: ExprKind::Array(Vec::new()), ty: None, span },
            None => self.opaque(span, None),
        }
    }

    /// Lowers a chain of binary operators from its innermost left operand outwards, without recursion.
    fn chain(&mut self, node: &ast::Expr) -> Expr {
        let mut rights = Vec::new();
        let mut innermost = node;
        while let ast::Expr::BinaryOp { left, op, right } = innermost {
            rights.push((op, &**right));
            innermost = left;
        }
        let mut result = self.expr(innermost);
        if rights.len() > CHAIN {
            let message = format!("`{}` chains more than {CHAIN} operators", self.name);
            let help = "compare with a list parameter instead of a long chain";
            self.report(Diagnostic::error(rule::SYNTAX, message, result.span, "the chain begins here").help(help));
            return result;
        }
        for (op, right) in rights.into_iter().rev() {
            let right = self.expr(right);
            result = self.binary(op, result, right);
        }
        result
    }

    fn compared(&mut self, op: &str, left: &ast::Expr, right: &ast::Expr) -> Expr {
        let (left, right) = (self.expr(left), self.expr(right));
        self.operation(op, left, right)
    }

    fn binary(&mut self, op: &BinaryOperator, left: Expr, right: Expr) -> Expr {
        let negated_like = match op {
            BinaryOperator::Glob => Some(("glob", false)),
            BinaryOperator::Regexp => Some(("regexp", false)),
            BinaryOperator::PGLikeMatch => Some(("like", false)),
            BinaryOperator::PGNotLikeMatch => Some(("like", true)),
            BinaryOperator::PGILikeMatch => Some(("ilike", false)),
            BinaryOperator::PGNotILikeMatch => Some(("ilike", true)),
            _ => None,
        };
        if let Some((like, negated)) = negated_like {
            return self.like_of(like, left, right, None, negated);
        }
        let word = match op {
            BinaryOperator::Custom(op) if op == "IS" => "is not distinct from".to_owned(),
            BinaryOperator::Custom(op) if op == "IS NOT" => "is distinct from".to_owned(),
            BinaryOperator::PGCustomBinaryOperator(path) => path.last().cloned().unwrap_or_default(),
            op => op.to_string().to_lowercase(),
        };
        self.operation(&word, left, right)
    }

    /// Builds `left op right`.
    pub(super) fn operation(&mut self, op: &str, mut left: Expr, mut right: Expr) -> Expr {
        self.hint_each_other(&left, &right);
        self.hold_each_other(&mut left, &mut right);
        let mut nullable = self.may_be_null(&left) || self.may_be_null(&right);
        if self.dialect == Dialect::Sqlite && ["/", "%"].contains(&op) {
            // Dividing by zero gives NULL.
            nullable |= !matches!(&right.kind, ExprKind::Number(n) if n.bytes().any(|b| (b'1'..=b'9').contains(&b)));
        }
        let base = |e: &Expr| e.ty.as_ref().map(|ty| ty.base.clone());
        let ty = types::binary(self.dialect, op, base(&left), base(&right), nullable);
        let span = left.span.to(right.span);
        let kind = ExprKind::Binary { op: op.to_owned(), left: Box::new(left), right: Box::new(right) };
        Expr { kind, ty, span }
    }

    fn unary(&mut self, op: &UnaryOperator, operand: &ast::Expr) -> Expr {
        let operand = self.expr(operand);
        if let (UnaryOperator::Not, ExprKind::Like { negated: false, .. }) = (op, &operand.kind)
            && !self.text.is_word(self.text.first_of(operand.span).wrapping_sub(1), "NOT")
        {
            return negated_like(operand);
        }
        let first = self.text.first_of(operand.span);
        let span = self.text.bytes(first.saturating_sub(1), first).to(operand.span);
        let op = op.to_string().trim().to_lowercase();
        let nullable = self.may_be_null(&operand);
        let ty = match op.as_str() {
            "not" => Some(Type { base: Base::Bool, nullable }),
            _ => operand.ty.clone(),
        };
        Expr { kind: ExprKind::Unary { op, expr: Box::new(operand) }, ty, span }
    }

    fn case(
        &mut self,
        node: &ast::Expr,
        operand: Option<&ast::Expr>,
        conditions: &[ast::CaseWhen],
        otherwise: Option<&ast::Expr>,
    ) -> Expr {
        let operand = operand.map(|e| Box::new(self.expr(e)));
        let branches: Vec<_> = conditions.iter().map(|c| (self.expr(&c.condition), self.expr(&c.result))).collect();
        let otherwise = otherwise.map(|e| Box::new(self.expr(e)));
        if let Some(operand) = &operand {
            for (condition, _) in &branches {
                self.hint_each_other(operand, condition);
            }
        }
        let values = || branches.iter().map(|(_, value)| value).chain(otherwise.as_deref());
        let nullable = otherwise.is_none() || values().any(|value| self.may_be_null(value));
        let ty = self.common(values(), nullable);
        Expr { ty, span: self.place(node), kind: ExprKind::Case { operand, branches, otherwise } }
    }

    /// The type that all values fit in, as CASE and COALESCE find it.
    pub(super) fn common<'e>(&self, values: impl Iterator<Item = &'e Expr>, nullable: bool) -> Option<Type> {
        let mut base = None;
        for value in values {
            let literal = matches!(value.kind, ExprKind::Text(_)) && base.is_some();
            if !literal {
                base = types::widest(base, value.ty.as_ref().map(|ty| ty.base.clone()));
            }
        }
        base.map(|base| Type { base, nullable })
    }

    fn array(&mut self, array: &ast::Array, node: &ast::Expr) -> Expr {
        let items: Vec<_> = array.elem.iter().map(|item| self.expr(item)).collect();
        let mut span = match union(&items) {
            Some(span) => self.text.widen_over_brackets(span),
            None => self.place(node),
        };
        if array.named {
            let first = self.text.first_of(span).saturating_sub(1);
            span = self.text.bytes(first, first).to(span);
        }
        let base = match self.common(items.iter(), false).map(|ty| ty.base) {
            Some(Base::Text) => Some(Base::TextArray),
            Some(Base::Int16 | Base::Int32 | Base::Int64) => Some(Base::Int64Array),
            Some(Base::Uuid) => Some(Base::UuidArray),
            _ => None,
        };
        Expr { kind: ExprKind::Array(items), ty: base.map(Type::required), span }
    }

    fn access(&mut self, root: &ast::Expr, chain: &[AccessExpr], node: &ast::Expr) -> Expr {
        let mut value = self.expr(root);
        for step in chain {
            let AccessExpr::Subscript(Subscript::Index { index }) = step else {
                let span = self.place(node);
                return self.opaque(span, None);
            };
            let index = self.expr(index);
            let close = self.text.widen_over_brackets(index.span);
            value = self.operation("[]", value, index);
            value.span = value.span.to(close);
        }
        value
    }
}

/// `NOT GLOB` and its kin, where the NOT stands inside.
fn negated_like(mut like: Expr) -> Expr {
    if let ExprKind::Like { negated, .. } = &mut like.kind {
        *negated = true;
    }
    like
}

/// The smallest span over all of them.
pub(super) fn union(items: &[Expr]) -> Option<Span> {
    items.iter().map(|item| item.span).reduce(Span::to)
}
