//! INSERT, UPDATE and DELETE.

use sqlparser::ast::{self, AssignmentTarget, ConflictTarget, FromTable, ObjectName, OnConflictAction, OnInsert};
use sqlparser::ast::{TableFactor, TableObject, UpdateTableFromKind};
use sqlparser::tokenizer::{Span as TokenSpan, Token};

use super::Lower;
use super::scope::{Columns, Scope, Visible, known_as};
use super::text::{Text, Tok};
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::names::nearest;
use crate::rule;
use crate::source::Span;
use crate::tree::{
    Assignment, Conflict, ConflictAction, Delete, Expr, ExprKind, Insert, OutputColumn, Query, Rows, Select, Source,
    SourceId, SourceKind, Update,
};

impl Lower<'_> {
    /// Lowers an INSERT whose CTEs are already known.
    pub(super) fn insert(&mut self, node: &ast::Insert) -> Option<Insert> {
        let TableObject::TableName(name) = &node.table else {
            self.unsupported("this target of an INSERT", self.text.span);
            return None;
        };
        self.clauses_of_insert(node);
        let rows = node.source.as_deref().map(|source| self.query(source));
        let alias = node.table_alias.as_ref().map(|alias| ast::TableAlias {
            explicit: alias.explicit,
            name: alias.alias.clone(),
            columns: Vec::new(),
            at: None,
        });
        self.scopes.push(Scope::default());
        let target = self.target(name, alias.as_ref());
        let columns = self.insert_columns(node, &target, rows.as_ref());
        let mut rows = rows.unwrap_or_else(|| default_row(target.span));
        self.check_width(&columns, &rows, &target, node.columns.is_empty());
        self.hint_columns(&columns, &rows.rows);
        self.hold_rows(&mut rows.rows, &columns, &target);
        let conflict = match &node.on {
            Some(OnInsert::OnConflict(conflict)) => Some(self.conflict(conflict, &target)),
            Some(_) => {
                self.unsupported("ON DUPLICATE KEY", target.span);
                None
            }
            None => None,
        };
        let returning = self.returning(node.returning.as_deref(), Some(&target));
        self.scopes.pop();
        Some(Insert { or: self.insert_or(node), target, columns, rows, conflict, returning })
    }

    /// `OR IGNORE` and its kin; a bare `REPLACE INTO` is `or replace`.
    fn insert_or(&self, node: &ast::Insert) -> Option<(String, Span)> {
        let word = node.or.as_ref().map(|or| or.to_string().to_lowercase());
        let word = word.or_else(|| node.replace_into.then(|| "or replace".to_owned()))?;
        let name = self.text.tokens_of(&node.table).map_or(0, |(first, _)| first);
        let start = (0..name).rev().take(4).find(|i| self.text.is_word(*i, "OR"));
        let span = match start {
            Some(start) => self.text.bytes(start, start + 1),
            None => self.text.bytes(name.saturating_sub(2), name.saturating_sub(2)),
        };
        Some((word, span))
    }

    fn target(&mut self, name: &ObjectName, alias: Option<&ast::TableAlias>) -> Source {
        let mut target = self.table(name, alias);
        if let SourceKind::Cte(cte) = &target.kind {
            let message = format!("`{}` writes to `{cte}`, which is a CTE", self.name);
            self.report(Diagnostic::error(rule::UNKNOWN_TABLE, message, target.span, "not a table"));
            target.kind = SourceKind::Table(cte.clone());
        }
        if let SourceKind::Rows(rows) = &target.kind {
            let message = format!("`{}` writes to `{rows}`, which are the rows that it takes", self.name);
            self.report(Diagnostic::error(rule::UNKNOWN_TABLE, message, target.span, "not a table"));
            target.kind = SourceKind::Table(rows.clone());
        }
        target
    }

    fn insert_columns(&mut self, node: &ast::Insert, target: &Source, rows: Option<&Query>) -> Vec<(String, Span)> {
        if node.columns.is_empty() {
            // Postgres fills the columns from the left; the rest take their defaults.
            let width = rows.map_or(0, |rows| rows.columns().len());
            return target.columns.iter().take(width).map(|(name, _)| (name.clone(), target.span)).collect();
        }
        let mut columns = Vec::new();
        for name in &node.columns {
            if let Some(column) = self.target_column(name, target) {
                columns.push(column);
            }
        }
        columns
    }

    /// A column of the target by its name.
    fn target_column(&mut self, name: &ObjectName, target: &Source) -> Option<(String, Span)> {
        let ident = name.0.last().and_then(|part| part.as_ident())?;
        let span = self.place(name);
        Some(self.known_column(ident, span, target))
    }

    fn known_column(&mut self, ident: &ast::Ident, span: Span, target: &Source) -> (String, Span) {
        let name = known_as(ident);
        let known = target.columns.iter().any(|(column, _)| *column == name);
        let of_index = self.schema.tables.get(&target.alias).is_some_and(|table| table.searched && table.name == name);
        let is_own = self.dialect == Dialect::Sqlite && (name == "rowid" || of_index);
        let open = target.columns.is_empty() || is_own;
        if !known && !open {
            let message = format!("`{}` has no column `{name}`, which `{}` uses", target.alias, self.name);
            let mut finding = Diagnostic::error(rule::UNKNOWN_COLUMN, message, span, "no such column");
            if let Some(near) = nearest(&name, target.columns.iter().map(|(column, _)| column.as_str())) {
                finding = finding.help(format!("did you mean `{near}`?"));
            }
            self.report(finding);
        }
        (name, span)
    }

    /// Each row must have a value for each column.
    fn check_width(&mut self, columns: &[(String, Span)], rows: &Query, target: &Source, implied: bool) {
        if target.columns.is_empty() {
            return;
        }
        let (expected, what) = match (implied, self.dialect) {
            (false, _) => (columns.len(), "named"),
            (true, Dialect::Sqlite) => (target.columns.len(), "in the table"),
            (true, Dialect::Pg) => (target.columns.len().min(columns.len()), "in the table"),
        };
        let found: Vec<(usize, Span)> = match &rows.rows {
            Rows::Values(rows, _) => {
                let place = |row: &Vec<Expr>| super::expr::union(row);
                rows.iter().filter_map(|row| Some((row.len(), place(row)?))).collect()
            }
            _ => vec![(rows.columns().len(), rows.span)],
        };
        for (width, span) in found {
            if width == expected || width == 0 {
                continue;
            }
            let message =
                format!("`{}` inserts {width} values into {expected} columns of `{}`", self.name, target.alias);
            let mut finding = Diagnostic::error(rule::INSERT_WIDTH, message, span, format!("{width} values"));
            if let (Some(first), Some(last)) = (columns.first(), columns.last()) {
                finding = finding.context(first.1.to(last.1), format!("{expected} columns {what}"));
            }
            self.report(finding);
        }
    }

    fn hint_columns(&mut self, columns: &[(String, Span)], rows: &Rows) {
        match rows {
            Rows::Values(rows, _) => {
                for (value, (name, _)) in rows.iter().flat_map(|row| row.iter().zip(columns)) {
                    self.hint(value, name);
                }
            }
            Rows::Select(select) => {
                for (value, (name, _)) in select.columns.iter().zip(columns) {
                    self.hint(&value.expr, name);
                }
            }
            Rows::Query(query) => self.hint_columns(columns, &query.rows),
            Rows::Set { left, right, .. } => {
                self.hint_columns(columns, left);
                self.hint_columns(columns, right);
            }
        }
    }

    fn conflict(&mut self, node: &ast::OnConflict, target: &Source) -> Conflict {
        let span = self.conflict_span(target);
        let columns = match &node.conflict_target {
            None => self.conflict_keys(span, target),
            Some(ConflictTarget::Columns(idents)) => {
                let mut columns = Vec::new();
                for ident in idents {
                    let place = self.place_of(ident.span);
                    columns.push(self.known_column(ident, place, target).0);
                }
                Some(columns)
            }
            Some(ConflictTarget::OnConstraint(name)) => self.constraint(name, target),
        };
        let target_filter = self.conflict_filter(span);
        let action = match &node.action {
            OnConflictAction::DoNothing => ConflictAction::Nothing,
            OnConflictAction::DoUpdate(update) => {
                let excluded = self.push_excluded(&target.columns);
                let set = self.assignments(&update.assignments, target);
                let filter = update.selection.as_ref().map(|filter| self.expr(filter));
                if let Some(scope) = self.scopes.last_mut() {
                    scope.visible.retain(|visible| visible.id != excluded);
                }
                ConflictAction::Update { set, filter, excluded }
            }
        };
        Conflict { target: columns, target_filter, action, span }
    }

    /// From `ON` to the last word of the action.
    fn conflict_span(&self, target: &Source) -> Span {
        let mut i = self.text.last_of(target.span) + 1;
        while let Some(token) = self.text.token(i) {
            if self.text.are_words(i, &["ON", "CONFLICT"]) {
                return self.text.bytes(i, self.text.clause_end(i, &[&["RETURNING"]]));
            }
            i = match token {
                Token::LParen => self.text.partner(i).unwrap_or(i) + 1,
                _ => i + 1,
            };
        }
        target.span
    }

    /// Reads the condition of the conflict target, which was taken out of the text.
    fn conflict_filter(&mut self, conflict: Span) -> Option<Expr> {
        let index = self.edited.conflict_filters.iter().position(|tokens| begins_inside(conflict, tokens))?;
        let tokens = self.edited.conflict_filters.remove(index);
        self.taken_out(tokens).map(|(filter, _)| filter)
    }

    /// The keys of a conflict target with expressions, which was taken out of the text: columns, and of an expression a
    /// text as the index has it.
    fn conflict_keys(&mut self, conflict: Span, target: &Source) -> Option<Vec<String>> {
        let index = self.edited.conflict_keys.iter().position(|tokens| begins_inside(conflict, tokens))?;
        let mut rest = self.edited.conflict_keys.remove(index);
        let mut keys = Vec::new();
        while !rest.is_empty() {
            let end = super::edit::level(&rest, |token| *token == Token::Comma);
            let behind = rest.split_off(end.saturating_add(1).min(rest.len()));
            rest.truncate(end);
            if let [Tok { token: Token::Word(word), span }] = rest.as_slice() {
                keys.push(self.known_column(&word.to_ident(TokenSpan::empty()), *span, target).0);
            } else if let Some((_, key)) = self.taken_out(rest) {
                keys.push(key);
            }
            rest = behind;
        }
        Some(keys)
    }

    /// Reads an expression that was taken out of the text, with the text of it that an index would have.
    fn taken_out(&mut self, tokens: Vec<Tok>) -> Option<(Expr, String)> {
        let (first, last) = (tokens.first()?.span, tokens.last()?.span);
        let mut text = Text::new(first.to(last), tokens);
        match super::parse::expression(&mut text, self.dialect) {
            Ok(node) => {
                let whole = std::mem::replace(&mut self.text, text);
                let expr = self.expr(&node);
                self.text = whole;
                Some((expr, crate::schema::key_text(&node)))
            }
            Err(error) => {
                self.syntax(&error);
                None
            }
        }
    }

    /// A constraint's columns.
    fn constraint(&mut self, name: &ObjectName, target: &Source) -> Option<Vec<String>> {
        let span = self.place(name);
        let ident = name.0.last().and_then(|part| part.as_ident())?;
        let name = known_as(ident);
        let SourceKind::Table(table) = &target.kind else { return None };
        let table = self.schema.tables.get(table)?;
        if let Some(columns) = table.constraints.get(&name) {
            return Some(columns.clone());
        }
        let message = format!("`{}` has no constraint `{name}`, which `{}` names", table.name, self.name);
        let help = "name the columns: ON CONFLICT (column, …)";
        self.report(Diagnostic::error(rule::UNKNOWN_CONSTRAINT, message, span, "no such constraint").help(help));
        None
    }

    fn push_excluded(&mut self, columns: &Columns) -> SourceId {
        let id = self.new_source();
        // Postgres finds a bare column in both the row and `excluded` and refuses; SQLite means the row.
        let bare = self.dialect == Dialect::Pg;
        let visible = Visible {
            searched: false,
            id,
            alias: "excluded".to_owned(),
            columns: columns.clone(),
            complete: !columns.is_empty(),
            outer: false,
            merged: Vec::new(),
            table: false,
            call: false,
            bare,
        };
        if let Some(scope) = self.scopes.last_mut() {
            scope.visible.push(visible);
        }
        id
    }

    /// SET; row assignments are taken apart.
    fn assignments(&mut self, nodes: &[ast::Assignment], target: &Source) -> Vec<Assignment> {
        let mut set = Vec::new();
        for node in nodes {
            match &node.target {
                AssignmentTarget::ColumnName(name) => {
                    let mut value = self.expr(&node.value);
                    if let Some((column, place)) = self.target_column(name, target) {
                        self.hint(&value, &column);
                        self.hold_written(&mut value, target, &column);
                        let span = place.to(value.span);
                        set.push(Assignment { column, value, span });
                    }
                }
                AssignmentTarget::Tuple(names) => {
                    let value = self.expr(&node.value);
                    let columns: Vec<_> = names.iter().filter_map(|name| self.target_column(name, target)).collect();
                    set.extend(self.row_assignment(columns, value));
                }
            }
        }
        set
    }

    fn row_assignment(&mut self, columns: Vec<(String, Span)>, value: Expr) -> Vec<Assignment> {
        let whole = columns.first().map_or(value.span, |(_, place)| place.to(value.span));
        let values: Vec<Expr> = match value.kind {
            ExprKind::Tuple(items) => items,
            ExprKind::Call { ref name, args, .. } if name == "row" => args,
            ExprKind::Scalar(query) => columns_alone(*query, value.span),
            _ => Vec::new(),
        };
        if values.len() != columns.len() {
            let message = format!("`{}` assigns {} values to {} columns", self.name, values.len(), columns.len());
            self.report(Diagnostic::error(rule::INSERT_WIDTH, message, whole, "as many values as columns"));
        }
        let pair =
            |((column, place), value): ((String, Span), Expr)| Assignment { column, span: place.to(value.span), value };
        let set: Vec<_> = columns.into_iter().zip(values).map(pair).collect();
        for assignment in &set {
            self.hint(&assignment.value, &assignment.column);
        }
        set
    }

    /// Lowers an UPDATE whose CTEs are already known.
    pub(super) fn update(&mut self, node: &ast::Update) -> Option<Update> {
        self.clauses_of_update(node);
        self.scopes.push(Scope::default());
        let target = self.write_target(&node.table);
        let from = match &node.from {
            Some(UpdateTableFromKind::AfterSet(from) | UpdateTableFromKind::BeforeSet(from)) => self.from(from),
            None => Vec::new(),
        };
        let filter = node.selection.as_ref().map(|filter| self.expr(filter));
        if let Some(filter) = &filter {
            self.keeps_present(filter);
        }
        let set = target.as_ref().map_or_else(Vec::new, |target| self.assignments(&node.assignments, target));
        if let Some(target) = &target {
            self.after_update(target.id, &set);
        }
        let returning = self.returning(node.returning.as_deref(), target.as_ref());
        self.scopes.pop();
        Some(Update { target: target?, set, from, filter, returning })
    }

    /// RETURNING shows the new row: what the condition said about an assigned column no longer holds.
    fn after_update(&mut self, target: SourceId, set: &[Assignment]) {
        let known: Vec<_> = set.iter().map(|a| (a.column.clone(), !self.may_be_null(&a.value))).collect();
        let Some(scope) = self.scopes.last_mut() else { return };
        for (column, present) in known {
            if present {
                scope.present.insert((target, column));
            } else {
                scope.present.remove(&(target, column));
            }
        }
    }

    fn write_target(&mut self, table: &ast::TableWithJoins) -> Option<Source> {
        match &table.relation {
            factor @ TableFactor::Table { name, alias, args: None, .. } if table.joins.is_empty() => {
                self.clauses_of_factor(factor);
                Some(self.target(name, alias.as_ref()))
            }
            other => {
                let span = self.place(other);
                self.unsupported("this target of a write", span);
                None
            }
        }
    }

    /// RETURNING; on SQLite it sees the target alone, and by the table's own name.
    fn returning(&mut self, items: Option<&[ast::SelectItem]>, target: Option<&Source>) -> Vec<OutputColumn> {
        if let (Dialect::Sqlite, Some(target), Some(scope)) = (self.dialect, target, self.scopes.last_mut()) {
            scope.visible.retain(|visible| visible.id == target.id);
            if let SourceKind::Table(table) = &target.kind {
                scope.visible.iter_mut().for_each(|visible| visible.alias.clone_from(table));
                scope.forgotten = (target.alias != *table).then(|| (target.alias.clone(), table.clone()));
            }
        }
        self.outputs(items.unwrap_or_default())
    }

    /// Lowers a DELETE whose CTEs are already known.
    pub(super) fn delete(&mut self, node: &ast::Delete) -> Option<Delete> {
        self.clauses_of_delete(node);
        self.scopes.push(Scope::default());
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &node.from;
        let target = from.first().and_then(|table| self.write_target(table));
        let using = self.from(node.using.as_deref().unwrap_or_default());
        let filter = node.selection.as_ref().map(|filter| self.expr(filter));
        if let Some(filter) = &filter {
            self.keeps_present(filter);
        }
        let returning = self.returning(node.returning.as_deref(), target.as_ref());
        self.scopes.pop();
        Some(Delete { target: target?, using, filter, returning })
    }
}

/// Whether tokens begin inside of a clause.
fn begins_inside(clause: Span, tokens: &[Tok]) -> bool {
    tokens.first().is_some_and(|tok| clause.contains(Span { end: tok.span.start, ..tok.span }))
}

/// `DEFAULT VALUES`: one row that names no column.
fn default_row(span: Span) -> Query {
    Query::bare(Rows::Values(vec![Vec::new()], span), span)
}

/// `(SELECT a, b …)` as one scalar subquery for each column.
fn columns_alone(query: Query, span: Span) -> Vec<Expr> {
    let Rows::Select(select) = &query.rows else { return Vec::new() };
    let alone = |column: &OutputColumn| {
        let select = Select { columns: vec![column.clone()], ..select.as_ref().clone() };
        let query = Query { rows: Rows::Select(Box::new(select)), ..query.clone() };
        let ty = column.expr.ty.clone().map(|ty| crate::types::Type { nullable: true, ..ty });
        Expr { kind: ExprKind::Scalar(Box::new(query)), ty, span }
    };
    select.columns.iter().map(alone).collect()
}
