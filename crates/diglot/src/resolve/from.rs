//! FROM: tables, CTEs, subqueries and functions, and how they join.

use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, JoinConstraint, JoinOperator, ObjectName, TableFactor};

use super::Lower;
use super::scope::{Columns, Scope, Visible, known_as, name_of, visible_columns};
use super::table_functions;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::names::nearest;
use crate::rule;
use crate::source::Span;
use crate::tree::{Expr, ExprKind, Join, JoinKind, Source, SourceKind};
use crate::types::{Base, Type};

impl Lower<'_> {
    /// Lowers a FROM (or USING) list; its relations become visible in the innermost scope.
    pub(super) fn from(&mut self, list: &[ast::TableWithJoins]) -> Vec<Source> {
        let mut sources = Vec::new();
        for item in list {
            self.joined(item, &mut sources);
        }
        for source in &mut sources {
            if let Some(columns) = self.seen_columns(source) {
                source.columns = columns;
            }
        }
        sources
    }

    /// The columns of a source that an outer join changes.
    fn seen_columns(&self, source: &Source) -> Option<Columns> {
        let scope = self.scopes.last()?;
        let visible = scope.visible.iter().find(|v| v.outer && v.id == source.id)?;
        Some(visible_columns(&Scope::default(), visible))
    }

    fn joined(&mut self, item: &ast::TableWithJoins, sources: &mut Vec<Source>) {
        let item_start = self.visible_len();
        let first = !sources.is_empty();
        let at = sources.len();
        let lateral = self.factor(&item.relation, sources);
        if first && let Some(source) = sources.get_mut(at) {
            source.join = Some(Join { kind: JoinKind::Inner, on: None, lateral, span: source.span });
        }
        for join in &item.joins {
            self.join(join, item_start, sources);
        }
    }

    fn visible_len(&self) -> usize {
        self.scopes.last().map_or(0, |scope| scope.visible.len())
    }

    fn join(&mut self, node: &ast::Join, item_start: usize, sources: &mut Vec<Source>) {
        use JoinOperator as O;
        let after =
            sources.last().map(|source| self.text.last_of(source.join.as_ref().map_or(source.span, |j| j.span)));
        self.clauses_of_join(node);
        let (at, right_start) = (sources.len(), self.visible_len());
        let lateral = self.factor(&node.relation, sources);
        let (kind, constraint) = match &node.join_operator {
            O::Join(c) | O::Inner(c) => (JoinKind::Inner, c),
            O::Left(c) | O::LeftOuter(c) => (JoinKind::Left, c),
            O::Right(c) | O::RightOuter(c) => (JoinKind::Right, c),
            O::FullOuter(c) => (JoinKind::Full, c),
            O::CrossJoin(c) => (JoinKind::Cross, c),
            _ => {
                let span = sources.last().map_or(self.text.span, |source| source.span);
                self.unsupported("this kind of join", span);
                return;
            }
        };
        let on = match constraint {
            JoinConstraint::On(condition) => Some(self.expr(condition)),
            JoinConstraint::Using(columns) => self.using(columns, item_start, right_start),
            JoinConstraint::Natural => self.natural(item_start, right_start),
            JoinConstraint::None => None,
        };
        let end = self.visible_len();
        match kind {
            JoinKind::Left => self.outer(right_start..end),
            JoinKind::Right => self.outer(item_start..right_start),
            JoinKind::Full => self.outer(item_start..end),
            JoinKind::Inner | JoinKind::Cross => {
                if let Some(on) = &on {
                    self.keeps_present(on);
                }
            }
        }
        if sources.len() > at + 1 && !matches!(kind, JoinKind::Inner | JoinKind::Cross) {
            let span = sources.get(at).map_or(self.text.span, |source| source.span);
            self.unsupported("an outer join with several tables in brackets", span);
        }
        let Some(source) = sources.get_mut(at) else { return };
        let start = after.map_or(source.span, |last| self.text.bytes(last + 1, last + 1));
        let mut span = start.to(source.span);
        if let Some(on) = &on {
            span = span.to(on.span);
        }
        source.join = Some(Join { kind, on, lateral, span });
    }

    fn using(&mut self, columns: &[ObjectName], left: usize, right: usize) -> Option<Expr> {
        let mut equations = Vec::new();
        for column in columns {
            let ident = column.0.last().and_then(|part| part.as_ident())?;
            let span = self.place_of(ident.span);
            equations.push((known_as(ident), span));
        }
        self.equations(equations, left, right)
    }

    fn natural(&mut self, left: usize, right: usize) -> Option<Expr> {
        let scope = self.scopes.last()?;
        let has = |range: &[Visible], name: &str| range.iter().any(|v| v.columns.iter().any(|(c, _)| c == name));
        let (lefts, rights) = (scope.visible.get(left..right)?, scope.visible.get(right..)?);
        let columns = rights.iter().flat_map(|v| &v.columns);
        let shared: Vec<_> = columns.filter(|(c, _)| has(lefts, c)).map(|(c, _)| (c.clone(), self.text.span)).collect();
        self.equations(shared, left, right)
    }

    /// `left.c = right.c AND …`; the right column then no longer answers to the bare name.
    fn equations(&mut self, names: Vec<(String, Span)>, left: usize, right: usize) -> Option<Expr> {
        let mut result: Option<Expr> = None;
        for (name, span) in names {
            let side = |range: std::ops::Range<usize>| {
                let scope = self.scopes.last()?;
                let visible = scope.visible.get(range)?.iter().find(|v| v.columns.iter().any(|(c, _)| *c == name))?;
                let ty = visible.columns.iter().find(|(c, _)| *c == name).and_then(|(_, ty)| ty.clone());
                Some(Expr { kind: ExprKind::Column { source: visible.id, column: name.clone() }, ty, span })
            };
            let (Some(a), Some(b)) = (side(left..right), side(right..self.visible_len())) else {
                let message = format!("`{name}` in USING of `{}` is not a column of both sides", self.name);
                self.report(Diagnostic::error(rule::UNKNOWN_COLUMN, message, span, "no such column"));
                continue;
            };
            if let Some(scope) = self.scopes.last_mut() {
                let rights = scope.visible.iter_mut().skip(right);
                rights.filter(|v| v.columns.iter().any(|(c, _)| *c == name)).for_each(|v| v.merged.push(name.clone()));
            }
            let equation = self.operation("=", a, b);
            result = Some(match result {
                Some(before) => self.operation("and", before, equation),
                None => equation,
            });
        }
        result
    }

    /// Lowers one relation (several for a join in brackets). Says whether it is LATERAL.
    fn factor(&mut self, factor: &TableFactor, sources: &mut Vec<Source>) -> bool {
        self.clauses_of_factor(factor);
        match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let source = self.table(name, alias.as_ref());
                sources.push(source);
                false
            }
            TableFactor::Table { name, alias, args: Some(args), with_ordinality, .. } => {
                let call = self.table_call(name, &args.args, alias.as_ref(), *with_ordinality);
                sources.push(call);
                false
            }
            TableFactor::Function { lateral, name, args, with_ordinality, alias } => {
                let call = self.table_call(name, args, alias.as_ref(), *with_ordinality);
                sources.push(call);
                *lateral
            }
            TableFactor::UNNEST { alias, array_exprs, with_ordinality, .. } => {
                let args: Vec<_> = array_exprs.iter().map(|e| self.expr(e)).collect();
                let open = super::expr::union(&args).map_or(0, |span| self.text.first_of(span)).saturating_sub(1);
                let close = self.text.partner(open).unwrap_or(open);
                let span = self.text.bytes(open.saturating_sub(1), close);
                let call = self.function_source("unnest", args, alias.as_ref(), *with_ordinality, span);
                sources.push(call);
                false
            }
            TableFactor::Derived { lateral, subquery, alias, .. } => {
                let source = self.derived(subquery, alias.as_ref(), *lateral);
                sources.push(source);
                *lateral
            }
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                self.joined(table_with_joins, sources);
                false
            }
            other => {
                let span = self.place(other);
                self.unsupported("this kind of relation", span);
                false
            }
        }
    }

    /// A table, view or CTE.
    pub(super) fn table(&mut self, name: &ObjectName, alias: Option<&ast::TableAlias>) -> Source {
        let place = self.place(name);
        let idents: Vec<String> = name.0.iter().filter_map(|part| part.as_ident()).map(known_as).collect();
        let table = idents.last().cloned().unwrap_or_default();
        let written = name.0.last().and_then(|part| part.as_ident()).map(|ident| name_of(ident, self.dialect));
        let has_partitions = self.schema.tables.get(&table).is_some_and(|table| !table.partitioned_by.is_empty());
        let is_before = |only: &Span| {
            let between = Span { start: only.end, end: place.start, ..place };
            only.file == place.file && between.start <= between.end && self.sources.text(between).trim().is_empty()
        };
        if let Some(only) = self.edited.only.iter().copied().find(|only| has_partitions && is_before(only)) {
            self.unsupported("ONLY for a table with partitions", only);
        }
        let cte = self.ctes.iter().rev().find(|cte| idents.len() == 1 && cte.name == table).cloned();
        let (kind, columns, complete) = match cte {
            Some(cte) => (SourceKind::Cte(table.clone()), cte.columns, cte.complete),
            None if idents.len() == 1 && self.takes_rows(&table) => return self.rows_taken(&table, alias, place),
            None => {
                let found = self.schema_columns(&idents, (&table, written.as_deref().unwrap_or(&table)), place);
                let complete = found.is_some();
                (SourceKind::Table(table.clone()), found.unwrap_or_default(), complete)
            }
        };
        self.relation(kind, &table, columns, complete, alias, place)
    }

    /// The columns of a table; none (and a finding) when there is no such table.
    fn schema_columns(&mut self, path: &[String], (table, written): (&str, &str), place: Span) -> Option<Columns> {
        if let Some(found) = self.schema.tables.get(table) {
            if self.dialect == Dialect::Pg && found.quoted.as_deref().unwrap_or(table) != written {
                let own = found.quoted.as_ref().map_or_else(|| table.to_owned(), |name| format!("\"{name}\""));
                let message = format!("`{}` reads `{written}`, and Postgres calls the table `{own}`", self.name);
                let finding = Diagnostic::error(rule::UNKNOWN_TABLE, message, place, "no such table in this case");
                self.report(finding.help(format!("write `{own}`: Postgres reads a name without quotes in lower case")));
            }
            if let (Some(within), [_]) = (&found.within, path) {
                let message = format!("`{}` reads `{table}`, which is in the schema `{within}`", self.name);
                let finding = Diagnostic::error(rule::UNKNOWN_TABLE, message, place, "not found without its schema")
                    .help(format!("write `{within}.{table}`"))
                    .help(format!(
                        "or, if every session looks there, below `[prepare.pg_settings]` in diglot.toml: `search_path = \"{within}, public\"`"
                    ));
                self.report(finding);
            }
            return Some(found.columns.iter().map(|c| (c.name.clone(), Some(c.ty.clone()))).collect());
        }
        let of_engine = match self.dialect {
            Dialect::Sqlite => table.starts_with("sqlite_") || table.starts_with("pragma_"),
            Dialect::Pg => {
                table.starts_with("pg_") || path.iter().any(|part| part == "information_schema" || part == "pg_catalog")
            }
        };
        if of_engine {
            return None;
        }
        let names = self.schema.tables.keys().chain(self.ctes.iter().map(|cte| &cte.name));
        let near = nearest(table, names.map(String::as_str)).map(str::to_owned);
        let message =
            format!("`{}` reads `{table}`, which the {} schema does not have", self.name, self.dialect.title());
        let mut finding = Diagnostic::error(rule::UNKNOWN_TABLE, message, place, "no such table");
        if let Some(near) = near {
            finding = finding.help(format!("did you mean `{near}`?"));
        }
        self.report(finding);
        None
    }

    /// Makes a relation visible and builds its source.
    pub(super) fn relation(
        &mut self,
        kind: SourceKind,
        name: &str,
        mut columns: Columns,
        complete: bool,
        alias: Option<&ast::TableAlias>,
        place: Span,
    ) -> Source {
        let (mut called, mut span) = (name.to_owned(), place);
        if let Some(alias) = alias {
            called = known_as(&alias.name);
            span = span.to(self.alias_span(alias));
            let renames = self.alias_columns(alias);
            columns.iter_mut().zip(renames).for_each(|(column, name)| column.0 = name);
        }
        let id = self.new_source();
        let (table, call) = (matches!(kind, SourceKind::Table(_)), matches!(kind, SourceKind::Function { .. }));
        if let Some(scope) = self.scopes.last_mut() {
            scope.visible.push(Visible {
                searched: table && self.schema.tables.get(name).is_some_and(|known| known.searched),
                id,
                alias: called.clone(),
                columns: columns.clone(),
                complete,
                outer: false,
                merged: Vec::new(),
                table,
                call,
                bare: true,
            });
        }
        Source { id, alias: called, kind, join: None, columns, span }
    }

    /// The alias with its column list.
    fn alias_span(&self, alias: &ast::TableAlias) -> Span {
        let Some((first, last)) = self.text.tokens_in(alias.name.span) else { return self.text.span };
        let close = match alias.columns.is_empty() {
            true => last,
            false => self.text.partner(last + 1).unwrap_or(last),
        };
        self.text.bytes(first, close)
    }

    fn derived(&mut self, query: &ast::Query, alias: Option<&ast::TableAlias>, lateral: bool) -> Source {
        // Without LATERAL the relations beside it are out of sight; those of outer levels are not.
        let beside = match self.scopes.last_mut() {
            Some(scope) if !lateral => std::mem::take(&mut scope.visible),
            _ => Vec::new(),
        };
        let mut query = self.query(query);
        if let Some(scope) = self.scopes.last_mut()
            && !lateral
        {
            scope.visible = beside;
        }
        if let Some(alias) = alias {
            query.rows.rename(&self.alias_columns(alias));
        }
        let columns = query.columns();
        let mut place = self.text.widen_over_brackets(query.span);
        if lateral {
            let first = self.text.first_of(place).saturating_sub(1);
            place = self.text.bytes(first, first).to(place);
        }
        self.relation(SourceKind::Derived(Box::new(query)), "", columns, true, alias, place)
    }

    fn table_call(
        &mut self,
        name: &ObjectName,
        args: &[FunctionArg],
        alias: Option<&ast::TableAlias>,
        ordinality: bool,
    ) -> Source {
        let mut lowered = Vec::new();
        for arg in args {
            if let FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)) = arg {
                let arg = self.expr(arg);
                lowered.push(arg);
            }
        }
        let (first, last) = self.text.tokens_of(name).unwrap_or((0, 0));
        let close = self.text.partner(last + 1).unwrap_or(last);
        let span = self.text.bytes(first, close);
        let name = super::call::own_name(name).unwrap_or_default();
        self.function_source(&name, lowered, alias, ordinality, span)
    }

    fn function_source(
        &mut self,
        name: &str,
        args: Vec<Expr>,
        alias: Option<&ast::TableAlias>,
        ordinality: bool,
        span: Span,
    ) -> Source {
        let called = alias.map(|alias| known_as(&alias.name));
        let (mut columns, mut complete) = table_functions::columns(self.dialect, name, &args, called.as_deref());
        if ordinality {
            columns.push(("ordinality".to_owned(), Some(Type::required(Base::Int64))));
        }
        if let Some(alias) = alias.filter(|alias| alias.columns.iter().any(|column| column.data_type.is_some())) {
            let typed = |column: &ast::TableAliasColumnDef| {
                let ty = column.data_type.as_ref().map(|ty| ty.to_string().to_lowercase());
                let base = ty.and_then(|ty| super::types::named(self.dialect, &ty));
                (known_as(&column.name), base.map(Type::optional))
            };
            (columns, complete) = (alias.columns.iter().map(typed).collect(), true);
        }
        let kind = SourceKind::Function { name: name.to_owned(), args };
        self.relation(kind, name, columns, complete, alias, span)
    }
}
