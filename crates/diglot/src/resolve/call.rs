//! Calls: ordinary functions, aggregates, window functions, and those with a grammar of their own.

use sqlparser::ast::{
    self, CeilFloorKind, DuplicateTreatment, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments,
    TrimWhereField, WindowType,
};
use sqlparser::tokenizer::Token;

use super::Lower;
use super::functions::{self, Gives, Null};
use super::scope::{known_as, name_of};
use super::types;
use crate::dialect::Dialect;
use crate::source::Span;
use crate::tree::{Expr, ExprKind, OrderKey, Window};
use crate::types::{Base, Type};

/// A call without the extras that few calls have.
pub(super) fn plain(name: &str, args: Vec<Expr>) -> ExprKind {
    ExprKind::Call {
        name: name.to_owned(),
        args,
        star: false,
        distinct: false,
        order: Vec::new(),
        filter: None,
        over: None,
    }
}

/// What `make_interval(days => 2, hours => 3)` is as the words of an interval: `2 days 3 hours`.
fn interval_words(args: &[Expr]) -> Option<String> {
    let part = |arg: &Expr| {
        let ExprKind::Binary { op, left, right } = &arg.kind else { return None };
        let ExprKind::Text(unit) = &left.kind else { return None };
        let number = match &right.kind {
            ExprKind::Number(number) => number.parse::<i64>().ok()?,
            ExprKind::Unary { op, expr } if op == "-" => match &expr.kind {
                ExprKind::Number(number) => -number.parse::<i64>().ok()?,
                _ => return None,
            },
            _ => return None,
        };
        (op == "=>").then(|| format!("{number} {unit}"))
    };
    let parts: Option<Vec<String>> = args.iter().map(part).collect();
    parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join(" "))
}

impl Lower<'_> {
    /// `current_timestamp` and its kin.
    pub(super) fn clock_word(&mut self, ident: &ast::Ident, span: Span) -> Expr {
        let name = ident.value.to_lowercase();
        self.typed_call(plain(&name, Vec::new()), span)
    }

    /// Lowers a function call.
    pub(super) fn function(&mut self, function: &ast::Function) -> Expr {
        let span = self.call_span(function);
        let Some(name) = own_name(&function.name).filter(|_| Self::is_plain_call(function)) else {
            return self.opaque(span, None);
        };
        let (mut star, mut distinct) = (false, false);
        let mut args = Vec::new();
        let mut order = Vec::new();
        match &function.args {
            FunctionArguments::None => {}
            FunctionArguments::Subquery(query) => args.push(self.subquery_argument(query)),
            FunctionArguments::List(list) => {
                distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
                for arg in &list.args {
                    match self.argument(arg) {
                        Some(arg) => args.push(arg),
                        None => star = true,
                    }
                }
                for clause in &list.clauses {
                    if let FunctionArgumentClause::OrderBy(keys) = clause {
                        order = keys.iter().map(|key| self.order_key(key)).collect();
                    }
                }
            }
        }
        if let Some(words) = (name == "make_interval").then(|| interval_words(&args)).flatten() {
            let words = Expr { kind: ExprKind::Text(words), ty: Some(Type::required(Base::Text)), span };
            return self.cast_of(words, "interval", span);
        }
        let filter = function.filter.as_deref().map(|filter| Box::new(self.expr(filter)));
        let over = function.over.as_ref().map(|over| Box::new(self.window(over)));
        self.typed_call(ExprKind::Call { name, args, star, distinct, order, filter, over }, span)
    }

    /// An argument; none for `*`.
    fn argument(&mut self, arg: &FunctionArg) -> Option<Expr> {
        let (name, value) = match arg {
            FunctionArg::Unnamed(value) => (None, value),
            FunctionArg::Named { name, arg, .. }
            | FunctionArg::ExprNamed { name: ast::Expr::Identifier(name), arg, .. } => {
                let span = self.place_of(name.span);
                (Some(Expr { kind: ExprKind::Text(name_of(name, self.dialect)), ty: None, span }), arg)
            }
            FunctionArg::ExprNamed { name, arg, .. } => {
                let span = self.place(name);
                (Some(self.opaque(span, None)), arg)
            }
        };
        let value = match value {
            FunctionArgExpr::Expr(expr) => self.expr(expr),
            FunctionArgExpr::QualifiedWildcard(owner) => {
                let span = self.place(owner);
                self.opaque(span, None)
            }
            FunctionArgExpr::Wildcard | FunctionArgExpr::WildcardWithOptions(_) => return None,
        };
        Some(match name {
            Some(name) => {
                let (span, ty) = (name.span.to(value.span), value.ty.clone());
                let kind = ExprKind::Binary { op: "=>".to_owned(), left: Box::new(name), right: Box::new(value) };
                Expr { kind, ty, span }
            }
            None => value,
        })
    }

    /// The query of `ARRAY(SELECT …)`.
    fn subquery_argument(&mut self, query: &ast::Query) -> Expr {
        let query = Box::new(self.query(query));
        let ty = query.columns().into_iter().next().and_then(|(_, ty)| ty);
        let span = self.text.widen_over_brackets(query.span);
        Expr { kind: ExprKind::Scalar(query), ty, span }
    }

    /// From the name to the last bracket of the last clause.
    fn call_span(&self, function: &ast::Function) -> Span {
        let Some((first, mut last)) = self.text.tokens_of(&function.name) else { return self.text.span };
        loop {
            let next = last + 1;
            let words = match self.text.token(next) {
                Some(Token::LParen) => 0,
                _ if self.text.is_word(next, "FILTER") => 1,
                _ if self.text.are_words(next, &["WITHIN", "GROUP"]) => 2,
                _ if self.text.is_word(next, "OVER") => 1,
                _ => break,
            };
            last = self.text.partner(next + words).unwrap_or(next + words);
        }
        self.text.bytes(first, last)
    }

    fn window(&mut self, over: &WindowType) -> Window {
        let spec = match over {
            WindowType::WindowSpec(spec) => spec.clone(),
            WindowType::NamedWindow(name) => match self.named_window(name) {
                Some(spec) => spec,
                None => {
                    let frame = known_as(name);
                    return Window { partition: Vec::new(), order: Vec::new(), frame, bounds: Vec::new() };
                }
            },
        };
        let base = spec.window_name.as_ref().and_then(|name| self.named_window(name));
        let (frame, bounds) = spec.window_frame.as_ref().map_or_else(Default::default, |frame| self.frame(frame));
        let mut window = Window {
            partition: spec.partition_by.iter().map(|e| self.expr(e)).collect(),
            order: spec.order_by.iter().map(|key| self.order_key(key)).collect(),
            frame,
            bounds,
        };
        if let Some(base) = base {
            let base = self.window(&WindowType::WindowSpec(base));
            window.partition = base.partition;
            if window.order.is_empty() {
                window.order = base.order;
            }
        }
        window
    }

    /// A frame from end to end, with the numbers of rows in it. The one that a window has by itself is none.
    fn frame(&mut self, frame: &ast::WindowFrame) -> (String, Vec<Expr>) {
        let ast::WindowFrame { units, start_bound, end_bound } = frame;
        let mut bounds = Vec::new();
        let mut end = |bound: &ast::WindowFrameBound| match bound {
            ast::WindowFrameBound::CurrentRow => "current row".to_owned(),
            ast::WindowFrameBound::Preceding(None) => "unbounded preceding".to_owned(),
            ast::WindowFrameBound::Following(None) => "unbounded following".to_owned(),
            ast::WindowFrameBound::Preceding(Some(rows)) => {
                bounds.push(self.expr(rows));
                "$ preceding".to_owned()
            }
            ast::WindowFrameBound::Following(Some(rows)) => {
                bounds.push(self.expr(rows));
                "$ following".to_owned()
            }
        };
        let start = end(start_bound);
        let last = end_bound.as_ref().map_or_else(|| "current row".to_owned(), end);
        let text = format!("{units} between {start} and {last}").to_lowercase();
        if text == "range between unbounded preceding and current row" {
            return (String::new(), bounds);
        }
        (text, bounds)
    }

    fn named_window(&self, name: &ast::Ident) -> Option<ast::WindowSpec> {
        let name = known_as(name);
        self.windows.iter().rev().find(|(known, _)| *known == name).map(|(_, spec)| spec.clone())
    }

    /// One key of ORDER BY inside a call.
    pub(super) fn order_key(&mut self, key: &ast::OrderByExpr) -> OrderKey {
        self.clauses_of_order(key);
        let expr = self.expr(&key.expr);
        self.order_key_of(expr, key)
    }

    /// Calls that sqlparser has nodes of their own for.
    pub(super) fn keyword_call(&mut self, node: &ast::Expr) -> Option<Expr> {
        use ast::Expr as E;
        let (name, args): (&str, Vec<&ast::Expr>) = match node {
            E::Ceil { expr, field: CeilFloorKind::DateTimeField(ast::DateTimeField::NoDateTime) } => {
                ("ceil", vec![expr])
            }
            E::Floor { expr, field: CeilFloorKind::DateTimeField(ast::DateTimeField::NoDateTime) } => {
                ("floor", vec![expr])
            }
            E::Position { expr, r#in } => ("position", vec![expr, r#in]),
            E::Extract { field, expr, .. } => return Some(self.extract(&field.to_string(), expr)),
            E::Substring { expr, substring_from, substring_for, shorthand, .. } => {
                let args = [Some(expr), substring_from.as_ref(), substring_for.as_ref()];
                let args = args.into_iter().flatten().map(Box::as_ref).collect();
                (if *shorthand { "substr" } else { "substring" }, args)
            }
            E::Trim { expr, trim_where, trim_what, trim_characters, .. } => {
                let name = match trim_where {
                    Some(TrimWhereField::Leading) => "ltrim",
                    Some(TrimWhereField::Trailing) => "rtrim",
                    _ => "trim",
                };
                let extra = trim_what.as_deref().into_iter().chain(trim_characters.iter().flatten());
                (name, std::iter::once(expr.as_ref()).chain(extra).collect())
            }
            _ => return None,
        };
        let args: Vec<_> = args.into_iter().map(|arg| self.expr(arg)).collect();
        let span = args.first().map_or(self.text.span, |arg| self.enclosing_call(arg.span));
        Some(self.typed_call(plain(name, args), span))
    }

    fn extract(&mut self, field: &str, from: &ast::Expr) -> Expr {
        let value = self.expr(from);
        let span = self.enclosing_call(value.span);
        let open = self.text.first_of(span) + 2;
        let field = Expr {
            kind: ExprKind::Text(field.to_lowercase()),
            ty: Some(Type::required(Base::Text)),
            span: self.text.bytes(open, open),
        };
        self.typed_call(plain("extract", vec![field, value]), span)
    }

    /// The call `name( … )` whose brackets enclose an argument.
    fn enclosing_call(&self, argument: Span) -> Span {
        let mut i = self.text.first_of(argument);
        while let Some(before) = i.checked_sub(1) {
            i = match self.text.token(before) {
                Some(Token::RParen | Token::RBracket) => self.text.partner(before).unwrap_or(before),
                Some(Token::LParen) => {
                    let close = self.text.partner(before).unwrap_or(before);
                    return self.text.bytes(before.saturating_sub(1), close);
                }
                _ => before,
            };
        }
        argument
    }

    /// Gives a call its type.
    pub(super) fn typed_call(&mut self, kind: ExprKind, span: Span) -> Expr {
        let ExprKind::Call { name, args, filter, over, .. } = &kind else { return self.opaque(span, None) };
        let ty = self.call_type(name, args, filter.is_some(), over.as_deref());
        Expr { kind, ty, span }
    }

    fn call_type(&self, name: &str, args: &[Expr], filtered: bool, over: Option<&Window>) -> Option<Type> {
        let base = |n: usize| args.get(n).and_then(|arg| arg.ty.as_ref()).map(|ty| ty.base.clone());
        if name == "array" {
            return array_of(base(0)?).map(Type::required);
        }
        let (_, mut gives, mut null) = *functions::line(self.dialect, name)?;
        if ["max", "min"].contains(&name) && args.len() > 1 {
            (gives, null) = (Gives::Widest, Null::Any);
        }
        let any = || args.iter().any(|arg| self.may_be_null(arg));
        let nullable = match null {
            Null::Never => false,
            Null::May => true,
            Null::Any => any(),
            Null::First => args.first().is_none_or(|arg| self.may_be_null(arg)),
            Null::Clock => {
                !args.iter().all(|arg| matches!(&arg.kind, ExprKind::Text(t) if t == "now" || t == "subsec"))
            }
            Null::All => args.iter().all(|arg| self.may_be_null(arg)),
            Null::Rows => {
                // A group, and a frame that is not cut, holds at least the row itself.
                let rows = over.map_or_else(|| self.is_grouped(), |window| window.frame.is_empty());
                filtered || !rows || any()
            }
        };
        let base = match gives {
            Gives::A(kind) => Some(kind.base()),
            Gives::Same(n) => base(n).map(|base| self.rounded(name, base)),
            Gives::Widest => self.common(args.iter(), false).map(|ty| ty.base),
            Gives::Branches => return self.common(args.iter().skip(1), self.branch_may_be_null(args)),
            Gives::Sum => base(0).map(|base| sum(self.dialect, base)),
            Gives::Average => match (self.dialect, base(0)) {
                (Dialect::Sqlite, _) | (_, Some(Base::Float64)) => Some(Base::Float64),
                (Dialect::Pg, Some(_)) => Some(Base::Numeric),
                (Dialect::Pg, None) => None,
            },
            Gives::ArrayOf => base(0).and_then(array_of),
            Gives::Unknown => None,
        };
        base.map(|base| Type { base, nullable })
    }

    fn branch_may_be_null(&self, args: &[Expr]) -> bool {
        args.len() < 3 || args.iter().skip(1).any(|arg| self.may_be_null(arg))
    }

    /// `ceil`, `floor`, `round`, `trunc` of an integer give a double on Postgres.
    fn rounded(&self, name: &str, base: Base) -> Base {
        let rounds = ["ceil", "ceiling", "floor", "round", "trunc"].contains(&name);
        match base {
            Base::Int16 | Base::Int32 | Base::Int64 if rounds && self.dialect == Dialect::Pg => Base::Float64,
            base => base,
        }
    }
}

/// The name of a function of the engine itself; one in a schema of its own has all of its path for a name.
pub(super) fn own_name(path: &ast::ObjectName) -> Option<String> {
    let names: Option<Vec<String>> =
        path.0.iter().map(|part| part.as_ident().map(|ident| ident.value.to_lowercase())).collect();
    let names = names?;
    Some(match names.as_slice() {
        [schema, name] if schema == "pg_catalog" => name.clone(),
        all => all.join("."),
    })
}

fn sum(dialect: Dialect, base: Base) -> Base {
    match (dialect, base) {
        (Dialect::Pg, Base::Int16 | Base::Int32) => Base::Int64,
        (Dialect::Pg, Base::Int64 | Base::Numeric) => Base::Numeric,
        (Dialect::Sqlite, Base::Bool) => Base::Int64,
        (_, base) => base,
    }
}

/// The array whose elements are of that type.
fn array_of(base: Base) -> Option<Base> {
    match types::widest(Some(base), None)? {
        Base::Text => Some(Base::TextArray),
        Base::Int16 | Base::Int32 | Base::Int64 => Some(Base::Int64Array),
        Base::Uuid => Some(Base::UuidArray),
        _ => None,
    }
}
