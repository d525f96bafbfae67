//! Queries: SELECT, VALUES, set operations, and the clauses around them.

use sqlparser::ast::{
    self, Distinct, GroupByExpr, LimitClause, NamedWindowExpr, OrderByKind, OrderBySort, SelectItem, SetExpr,
    SetOperator, SetQuantifier, Value,
};

use super::Lower;
use super::clauses::direction;
use super::output::outputs_of;
use super::scope::{Cte, Scope, known_as};
use super::table_functions;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::rule;
use crate::source::Span;
use crate::tree::{Expr, ExprKind, Lock, OrderKey, Query, Rows, Select, Source, SourceKind};
use crate::types::{Base, Type};

/// Words that end a query which is not in brackets.
const QUERY_STOPS: &[&[&str]] = &[&["RETURNING"], &["ON", "CONFLICT"]];

/// Words that end one side of a set operation.
const SELECT_STOPS: &[&[&str]] = &[
    &["RETURNING"],
    &["ON", "CONFLICT"],
    &["UNION"],
    &["EXCEPT"],
    &["INTERSECT"],
    &["ORDER", "BY"],
    &["LIMIT"],
    &["OFFSET"],
    &["FETCH"],
];

impl Lower<'_> {
    /// Lowers a nested query with its own CTEs.
    pub(super) fn query(&mut self, node: &ast::Query) -> Query {
        let before = self.ctes.len();
        let mut ctes = Vec::new();
        for cte in node.with.iter().flat_map(|with| &with.cte_tables) {
            let recursive = self.may_recurse(node.with.as_ref().is_some_and(|with| with.recursive));
            if matches!(cte.query.body.as_ref(), SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_)) {
                let span = self.place_of(cte.alias.name.span);
                self.unsupported("a writing CTE belongs to the top level of the statement", span);
                continue;
            }
            let (name, query) = self.cte_query(cte, recursive);
            ctes.push((name, query));
        }
        let mut query = self.query_body(node);
        query.ctes = ctes;
        self.ctes.truncate(before);
        query
    }

    /// Lowers the query of a CTE and makes its name known.
    pub(super) fn cte_query(&mut self, cte: &ast::Cte, recursive: bool) -> (String, Query) {
        self.clauses_of_cte(cte);
        let name = known_as(&cte.alias.name);
        let renames = self.alias_columns(&cte.alias);
        if recursive {
            self.recursion = Some((name.clone(), renames.clone()));
        }
        let known = self.ctes.len();
        let mut query = self.query(&cte.query);
        self.recursion = None;
        self.ctes.truncate(known);
        query.rows.rename(&renames);
        let mut columns = query.columns();
        columns.iter_mut().zip(renames).for_each(|(column, name)| column.0 = name);
        self.ctes.push(Cte { name: name.clone(), columns, complete: true });
        (name, query)
    }

    /// SQLite does not need the word RECURSIVE.
    pub(super) fn may_recurse(&self, written: bool) -> bool {
        written || self.dialect == Dialect::Sqlite
    }

    /// The names in `name(a, b)`.
    pub(super) fn alias_columns(&self, alias: &ast::TableAlias) -> Vec<String> {
        alias.columns.iter().map(|column| known_as(&column.name)).collect()
    }

    /// Lowers a query whose CTEs are already known.
    pub(super) fn query_body(&mut self, node: &ast::Query) -> Query {
        self.clauses_of_query(node);
        let recursion = self.recursion.take();
        let rows = match node.body.as_ref() {
            // The scope stays for ORDER BY.
            SetExpr::Select(select) => Rows::Select(Box::new(self.select(select))),
            body => {
                let rows = self.rows(body, recursion);
                let outputs = outputs_of(&rows);
                self.scopes.push(Scope { outputs, ..Scope::default() });
                rows
            }
        };
        let order = self.order_by(node.order_by.as_ref());
        let (limit, offset) = self.limits(node);
        self.scopes.pop();
        let mut span = self.query_span(node);
        let locks = self.claim_locks(span);
        for lock in &locks {
            span = span.to(lock.span);
            self.check_locked(lock, &rows);
        }
        Query { rows, ctes: Vec::new(), order, limit, offset, locks, span }
    }

    fn query_span(&self, node: &ast::Query) -> Span {
        let with = node.with.as_ref().and_then(|with| self.text.tokens_in(with.with_token.0.span));
        match with.map(|(first, _)| first).or_else(|| self.body_start(&node.body)) {
            Some(start) => self.text.bytes(start, self.text.clause_end(start, QUERY_STOPS)),
            None => self.place(node),
        }
    }

    /// The first token of a query's body.
    fn body_start(&self, body: &SetExpr) -> Option<usize> {
        match body {
            SetExpr::Select(select) => self.text.tokens_in(select.select_token.0.span).map(|(first, _)| first),
            SetExpr::Query(query) => {
                let with = query.with.as_ref().and_then(|with| self.text.tokens_in(with.with_token.0.span));
                let inner = with.map(|(first, _)| first).or_else(|| self.body_start(&query.body))?;
                inner.checked_sub(1)
            }
            SetExpr::SetOperation { left, .. } => self.body_start(left),
            SetExpr::Values(values) => {
                let first = values.rows.first()?;
                self.text.tokens_in(first.opening_token.0.span)?.0.checked_sub(1)
            }
            other => self.text.tokens_of(other).map(|(first, _)| first),
        }
    }

    /// The locks that stand behind a query whose text has been lowered; inner queries have taken theirs.
    fn claim_locks(&mut self, span: Span) -> Vec<Lock> {
        let limit = self.text.tokens.get(self.text.last_of(span) + 1).map_or(u32::MAX, |tok| tok.span.start);
        let (mine, rest) =
            self.edited.locks.drain(..).partition(|lock| {
                lock.span.file == span.file && lock.span.start >= span.start && lock.span.end <= limit
            });
        self.edited.locks = rest;
        mine
    }

    /// `OF` names relations of the query.
    fn check_locked(&mut self, lock: &Lock, rows: &Rows) {
        let Rows::Select(select) = rows else { return };
        for name in lock.of.iter().filter(|name| !select.from.iter().any(|source| source.alias == **name)) {
            let message = format!("`{}` locks `{name}`, which its FROM does not have", self.name);
            self.report(Diagnostic::error(rule::UNKNOWN_TABLE, message, lock.span, "no such relation here"));
        }
    }

    fn rows(&mut self, body: &SetExpr, recursion: Option<(String, Vec<String>)>) -> Rows {
        match body {
            SetExpr::Select(select) => {
                let select = self.select(select);
                self.scopes.pop();
                Rows::Select(Box::new(select))
            }
            SetExpr::Query(query) => Rows::Query(Box::new(self.query(query))),
            SetExpr::Values(values) => self.values(values),
            SetExpr::SetOperation { .. } => self.set_operation(body, recursion),
            other => {
                let span = self.place(other);
                self.unsupported("this kind of query", span);
                Rows::Values(Vec::new(), span)
            }
        }
    }

    fn set_operation(&mut self, body: &SetExpr, recursion: Option<(String, Vec<String>)>) -> Rows {
        if let SetExpr::SetOperation { set_quantifier: quantifier, .. } = body
            && !matches!(quantifier, SetQuantifier::All | SetQuantifier::Distinct | SetQuantifier::None)
        {
            let span = self.place(body);
            self.unsupported("a set operation BY NAME", span);
        }
        let mut members = Vec::new();
        set_members(body, None, self.dialect, &mut members);
        let mut members = members.into_iter();
        let Some((_, first)) = members.next() else { return Rows::Values(Vec::new(), self.text.span) };
        let mut rows = self.rows(first, None);
        if let Some((name, renames)) = recursion {
            let mut columns = rows.columns();
            columns.iter_mut().zip(renames).for_each(|(column, name)| column.0 = name);
            self.ctes.push(Cte { name, columns, complete: true });
        }
        for (operator, member) in members {
            let right = self.rows(member, None);
            let (op, all) = operator.unwrap_or(("union", false));
            let span = rows_span(&rows).to(rows_span(&right));
            rows = Rows::Set { op, all, left: Box::new(rows), right: Box::new(right), span };
        }
        rows
    }

    fn values(&mut self, values: &ast::Values) -> Rows {
        let ast::Values { explicit_row, value_keyword, rows: _ } = values;
        if *explicit_row || *value_keyword {
            self.unsupported("VALUES of another engine", self.text.span);
        }
        let rows: Vec<Vec<Expr>> =
            values.rows.iter().map(|row| row.content.iter().map(|e| self.expr(e)).collect()).collect();
        let ends = values.rows.first().zip(values.rows.last());
        let place = ends.and_then(|(first, last)| {
            let (open, _) = self.text.tokens_in(first.opening_token.0.span)?;
            let (close, _) = self.text.tokens_in(last.closing_token.0.span)?;
            Some(self.text.bytes(open.saturating_sub(1), close))
        });
        Rows::Values(rows, place.unwrap_or(self.text.span))
    }

    /// Lowers a SELECT and leaves its scope on the stack.
    fn select(&mut self, node: &ast::Select) -> Select {
        self.clauses_of_select(node);
        let aliases = node.projection.iter().filter_map(|item| match item {
            SelectItem::ExprWithAlias { expr, alias } => Some((known_as(alias), expr.clone())),
            _ => None,
        });
        let aliases = aliases.collect();
        self.scopes.push(Scope { aliases, ..Scope::default() });
        let windows = self.windows.len();
        for definition in &node.named_window {
            if let NamedWindowExpr::WindowSpec(spec) = &definition.1 {
                self.windows.push((known_as(&definition.0), spec.clone()));
            }
        }
        let from = self.from(&node.from);
        let filter = node.selection.as_ref().map(|filter| self.expr(filter));
        if let Some(filter) = &filter {
            self.keeps_present(filter);
        }
        let group = self.group(node);
        let columns = self.outputs(&node.projection);
        if let Some(scope) = self.scopes.last_mut() {
            scope.outputs = columns.iter().map(|c| (c.name.clone(), c.expr.clone())).collect();
        }
        let having = node.having.as_ref().map(|having| self.expr(having));
        let distinct = self.distinct(node);
        self.windows.truncate(windows);
        let start = self.text.tokens_in(node.select_token.0.span).map(|(first, _)| first);
        let span = match start {
            Some(start) => self.text.bytes(start, self.text.clause_end(start, SELECT_STOPS)),
            None => self.place(node),
        };
        if let Some(into) = &node.into {
            let place = into.targets.first().map_or(self.text.span, |name| self.place(name));
            self.unsupported("SELECT INTO", place);
        }
        let mut select = Select { distinct, columns, from, filter, group, having, span };
        self.reads_rows_of_call(&mut select);
        select
    }

    /// `SELECT unnest(list)` of Postgres gives the rows of `SELECT e FROM unnest(list) AS e`, and several lists side by
    /// side those of `unnest(list, other)`.
    fn reads_rows_of_call(&mut self, select: &mut Select) {
        if !select.from.is_empty() || self.dialect != Dialect::Pg {
            return;
        }
        let gives_values = ["unnest", "jsonb_array_elements", "jsonb_array_elements_text", "generate_series"];
        let call = |expr: &Expr| match &expr.kind {
            ExprKind::Call { name, args, .. } if gives_values.contains(&name.as_str()) && !args.is_empty() => {
                Some((name.clone(), args.clone()))
            }
            _ => None,
        };
        let calls: Vec<(String, Vec<Expr>)> = select.columns.iter().filter_map(|column| call(&column.expr)).collect();
        let are_lists = calls.iter().all(|(name, args)| name == "unnest" && args.len() == 1);
        let Some((name, _)) = calls.first().filter(|_| calls.len() == 1 || are_lists) else { return };
        let args: Vec<Expr> = calls.iter().flat_map(|(_, args)| args.iter().cloned()).collect();
        let (known, _) = table_functions::columns(self.dialect, name, &args, None);
        let id = self.new_source();
        let mut columns = Vec::new();
        let mut span = None;
        for column in select.columns.iter_mut().filter(|column| call(&column.expr).is_some()) {
            let place = columns.len();
            let (element, ty) = known.get(place).cloned().unwrap_or_else(|| (name.clone(), None));
            let element = if place == 0 { element } else { format!("{element}_{}", place + 1) };
            span.get_or_insert(column.expr.span);
            let kind = ExprKind::Column { source: id, column: element.clone() };
            column.expr = Expr { kind, ty: ty.clone(), span: column.expr.span };
            columns.push((element, ty));
        }
        let kind = SourceKind::Function { name: name.clone(), args };
        let span = span.unwrap_or(select.span);
        select.from.push(Source { id, alias: name.clone(), kind, join: None, columns, span });
    }

    fn distinct(&mut self, node: &ast::Select) -> Option<(Vec<Expr>, Span)> {
        let select = self.text.tokens_in(node.select_token.0.span).map_or(0, |(first, _)| first);
        let word = self.text.bytes(select + 1, select + 1);
        match node.distinct.as_ref()? {
            Distinct::All => None,
            Distinct::Distinct => Some((Vec::new(), word)),
            Distinct::On(keys) => {
                let keys: Vec<_> = keys.iter().map(|key| self.sort_expr(key)).collect();
                let close = self.text.partner(select + 3).unwrap_or(select + 1);
                Some((keys, self.text.bytes(select + 1, close)))
            }
        }
    }

    fn group(&mut self, node: &ast::Select) -> Vec<Expr> {
        let GroupByExpr::Expressions(keys, _) = &node.group_by else { return Vec::new() };
        if let Some(scope) = self.scopes.last_mut() {
            scope.grouped = !keys.is_empty();
        }
        keys.iter().map(|key| self.group_key(key, &node.projection)).collect()
    }

    /// A key may be a column, the number of an output column, or its alias.
    fn group_key(&mut self, key: &ast::Expr, projection: &[SelectItem]) -> Expr {
        let output = match key {
            ast::Expr::Value(value) => match &value.value {
                Value::Number(n, _) => n.parse::<usize>().ok().and_then(|n| projection.get(n.checked_sub(1)?)),
                _ => None,
            },
            ast::Expr::Identifier(ident) if !self.is_column(ident) => {
                let span = self.place(key);
                return self.output_alias(ident, span).unwrap_or_else(|| self.expr(key));
            }
            _ => None,
        };
        match output {
            Some(SelectItem::ExprWithAlias { expr, .. } | SelectItem::UnnamedExpr(expr)) => {
                let span = self.place(key);
                Expr { span, ..self.expr(expr) }
            }
            _ => self.expr(key),
        }
    }

    fn order_by(&mut self, order: Option<&ast::OrderBy>) -> Vec<OrderKey> {
        let Some(OrderByKind::Expressions(keys)) = order.map(|order| &order.kind) else { return Vec::new() };
        let lower = |key: &ast::OrderByExpr| {
            self.clauses_of_order(key);
            let expr = self.sort_expr(&key.expr);
            self.order_key_of(expr, key)
        };
        keys.iter().map(lower).collect()
    }

    /// Builds a key from its lowered value.
    pub(super) fn order_key_of(&self, expr: Expr, key: &ast::OrderByExpr) -> OrderKey {
        let mut last = self.text.last_of(expr.span);
        for word in ["ASC", "DESC"] {
            last += usize::from(self.text.is_word(last + 1, word));
        }
        if self.text.is_word(last + 1, "USING") {
            last += 2;
        }
        if self.text.is_word(last + 1, "NULLS") {
            last += 2;
        }
        let span = expr.span.to(self.text.bytes(self.text.last_of(expr.span), last));
        let desc = match &key.options.sort {
            Some(OrderBySort::Desc) => true,
            Some(OrderBySort::Using(operator)) => direction(operator).unwrap_or_default(),
            Some(OrderBySort::Asc) | None => false,
        };
        OrderKey { expr, desc, nulls_first: key.options.nulls_first, span }
    }

    /// A sort key: the number or the name of an output column, else an expression.
    fn sort_expr(&mut self, key: &ast::Expr) -> Expr {
        let outputs = self.scopes.last().map_or(&[][..], |scope| scope.outputs.as_slice());
        let output = match key {
            ast::Expr::Value(value) => match &value.value {
                Value::Number(n, _) => n.parse::<usize>().ok().and_then(|n| outputs.get(n.checked_sub(1)?)),
                _ => None,
            },
            ast::Expr::Identifier(ident) => {
                let name = known_as(ident);
                outputs.iter().find(|(output, _)| *output == name)
            }
            _ => None,
        };
        match output.map(|(_, expr)| expr.clone()) {
            Some(expr) => Expr { span: self.place(key), ..expr },
            None => self.expr(key),
        }
    }

    fn limits(&mut self, node: &ast::Query) -> (Option<Expr>, Option<Expr>) {
        let (mut limit, offset) = match &node.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, .. }) => {
                (limit.as_ref().map(|e| self.expr(e)), offset.as_ref().map(|offset| self.expr(&offset.value)))
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(self.expr(limit)), Some(self.expr(offset))),
            None => (None, None),
        };
        if let Some(fetch) = &node.fetch {
            limit = fetch.quantity.as_ref().map(|quantity| self.expr(quantity)).or_else(|| {
                let kind = ExprKind::Number("1".to_owned());
                let ty = Some(Type::required(Base::Int64));
                Some(Expr { kind, ty, span: self.query_span(node) })
            });
            if fetch.with_ties || fetch.percent {
                let span = limit.as_ref().map_or(self.text.span, |limit| limit.span);
                self.unsupported("FETCH with WITH TIES or PERCENT", span);
            }
        }
        for (value, name) in [(&limit, "limit"), (&offset, "offset")] {
            if let Some(value) = value {
                self.hint(value, name);
            }
        }
        (limit, offset)
    }

    /// Whether the innermost level has GROUP BY.
    pub(super) fn is_grouped(&self) -> bool {
        self.scopes.last().is_some_and(|scope| scope.grouped)
    }
}

/// An operator and whether ALL was written.
type SetWord = (&'static str, bool);

/// The members of a chain of set operations from left to right, each with the operator before it. On SQLite
/// all operators bind alike; sqlparser lets INTERSECT bind tighter, as Postgres does.
fn set_members<'n>(
    node: &'n SetExpr,
    before: Option<SetWord>,
    dialect: Dialect,
    members: &mut Vec<(Option<SetWord>, &'n SetExpr)>,
) {
    let SetExpr::SetOperation { left, op, set_quantifier, right } = node else {
        members.push((before, node));
        return;
    };
    let word = match op {
        SetOperator::Union => "union",
        SetOperator::Except | SetOperator::Minus => "except",
        SetOperator::Intersect => "intersect",
    };
    let operator = Some((word, matches!(set_quantifier, SetQuantifier::All)));
    set_members(left, before, dialect, members);
    match dialect {
        Dialect::Sqlite => set_members(right, operator, dialect, members),
        Dialect::Pg => members.push((operator, right)),
    }
}

fn rows_span(rows: &Rows) -> Span {
    match rows {
        Rows::Select(select) => select.span,
        Rows::Values(_, span) | Rows::Set { span, .. } => *span,
        Rows::Query(query) => query.span,
    }
}
