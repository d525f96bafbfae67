//! Output columns: select lists and RETURNING, stars, and the names of columns without an alias.

use sqlparser::ast::{SelectItem, SelectItemQualifiedWildcardKind};

use super::Lower;
use super::scope::{self, known_as, name_of};
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::rule;
use crate::source::Span;
use crate::tree::{Expr, ExprKind, OutputColumn, Replacement, Rewrite, Rows};

impl Lower<'_> {
    /// Lowers a select list or a RETURNING list, with stars expanded.
    pub(super) fn outputs(&mut self, items: &[SelectItem]) -> Vec<OutputColumn> {
        let mut columns = Vec::new();
        for item in items {
            match item {
                SelectItem::UnnamedExpr(node) => {
                    let expr = self.expr(node);
                    columns.push(OutputColumn { name: self.default_name(&expr), span: expr.span, expr });
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let expr = self.expr(expr);
                    let span = expr.span.to(self.place_of(alias.span));
                    columns.push(OutputColumn { name: name_of(alias, self.dialect), expr, span });
                }
                SelectItem::Wildcard(options) => {
                    let span = self.place(item);
                    self.clauses_of_star(options, span);
                    columns.extend(self.star(None, span));
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(owner), options) => {
                    let place = self.place(owner);
                    self.clauses_of_star(options, place);
                    let name = owner.0.last().and_then(|part| part.as_ident()).map(known_as);
                    let last = self.text.last_of(place);
                    let span = place.to(self.text.bytes(last, last + 2));
                    let mut expanded = self.star(name.as_deref(), span);
                    self.embedded(span, &mut expanded);
                    columns.extend(expanded);
                }
                other => {
                    let span = self.place(other);
                    self.unsupported("this kind of output column", span);
                }
            }
        }
        columns
    }

    /// Gives the columns of `sqlc.embed(t)` names that say whose they are, and notes what the driver is to get.
    fn embedded(&mut self, span: Span, columns: &mut [OutputColumn]) {
        let Some((_, start)) = self.edited.embeds.iter().find(|(place, _)| *place == span) else { return };
        let owner = self.sources.text(Span { start: *start, ..span });
        let owner = owner.strip_suffix(')').unwrap_or(owner).trim_end();
        let prefix = owner.trim_matches(['"', '`', '[', ']']).to_lowercase();
        let quoted = |name: &str| {
            let plain = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
            if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
        };
        let mut written = Vec::new();
        for column in columns {
            let name = format!("{prefix}_{}", column.name);
            // Quotes keep a word of SQL from being read as one.
            written.push(format!("{owner}.\"{}\" AS {}", column.name.replace('"', "\"\""), quoted(&name)));
            column.name = name;
        }
        self.rewrites.push(Rewrite { span, by: Replacement::Columns(written.join(", ")) });
    }

    fn star(&mut self, owner: Option<&str>, span: Span) -> Vec<OutputColumn> {
        let levels = if owner.is_some() { 0 } else { self.scopes.len().saturating_sub(1) };
        let mut columns = Vec::new();
        let mut known = false;
        for scope in self.scopes[levels..].iter().rev() {
            for visible in scope.visible.iter().filter(|v| owner.map_or(v.bare, |owner| v.alias == owner)) {
                known = true;
                let merged = |name: &String| owner.is_none() && visible.merged.contains(name);
                for (name, ty) in scope::visible_columns(scope, visible).into_iter().filter(|(name, _)| !merged(name)) {
                    let kind = ExprKind::Column { source: visible.id, column: name.clone() };
                    columns.push(OutputColumn { name, expr: Expr { kind, ty, span }, span });
                }
            }
            if known {
                break;
            }
        }
        if let (false, Some(owner)) = (known, owner) {
            let message = format!("`{owner}` in `{}` names no relation of the statement", self.name);
            self.report(Diagnostic::error(rule::UNKNOWN_TABLE, message, span, "not in any FROM here"));
        }
        columns
    }

    /// The name that the engine gives a column without an alias.
    fn default_name(&self, expr: &Expr) -> String {
        match (self.dialect, &expr.kind) {
            (_, ExprKind::Column { column, .. }) => column.clone(),
            (Dialect::Sqlite, _) => self.sources.text(expr.span).to_owned(),
            (Dialect::Pg, _) => pg_name(expr).unwrap_or_else(|| "?column?".to_owned()),
        }
    }
}

/// Postgres' rule for the names of output columns.
pub(super) fn pg_name(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Column { column, .. } => Some(column.clone()),
        ExprKind::Call { name, .. } => Some(name.clone()),
        ExprKind::Cast { expr, to, .. } => pg_name(expr).or_else(|| to.split(['(', '[']).next().map(str::to_owned)),
        ExprKind::Collate { expr, .. } => pg_name(expr),
        ExprKind::Case { otherwise, .. } => {
            otherwise.as_ref().and_then(|e| pg_name(e)).or_else(|| Some("case".to_owned()))
        }
        ExprKind::Exists { .. } => Some("exists".to_owned()),
        ExprKind::Array(_) => Some("array".to_owned()),
        ExprKind::Scalar(query) => query.columns().into_iter().next().map(|(name, _)| name),
        ExprKind::Binary { op, left, .. } if op == "[]" => pg_name(left),
        _ => None,
    }
}

/// The output columns by which a set operation may be sorted: those of its first query.
pub(super) fn outputs_of(rows: &Rows) -> Vec<(String, Expr)> {
    match rows {
        Rows::Select(select) => select.columns.iter().map(|c| (c.name.clone(), c.expr.clone())).collect(),
        Rows::Set { left, .. } => outputs_of(left),
        Rows::Query(query) => outputs_of(&query.rows),
        Rows::Values(rows, _) => {
            let first = rows.first().map_or(&[][..], Vec::as_slice);
            first.iter().enumerate().map(|(i, e)| (format!("column{}", i + 1), e.clone())).collect()
        }
    }
}
