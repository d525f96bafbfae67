//! Names: which relation and which column a word means at the place where it stands.

use std::collections::BTreeSet;

use sqlparser::ast::{self, Ident};

use super::Lower;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::names::nearest;
use crate::rule;
use crate::source::Span;
use crate::tree::{Expr, ExprKind, SourceId};
use crate::types::{Base, Type};

/// The columns of a relation with their types.
pub(super) type Columns = Vec<(String, Option<Type>)>;

/// A relation that can be named.
#[derive(Debug, Clone)]
pub(super) struct Visible {
    /// It is a full-text index, whose rank and whose rows as a whole are columns.
    pub searched: bool,
    /// Its identity.
    pub id: SourceId,
    /// The name by which it is called.
    pub alias: String,
    /// Its columns as declared.
    pub columns: Columns,
    /// Whether these are all; an unknown relation accepts every column name.
    pub complete: bool,
    /// Whether an outer join may fill its columns with NULL.
    pub outer: bool,
    /// Columns that a `USING` has merged into an earlier relation's.
    pub merged: Vec<String>,
    /// Whether it is a table of the schema, so that the engine's own columns exist.
    pub table: bool,
    /// Whether it is a function.
    pub call: bool,
    /// Whether it answers to a bare column name; `excluded` and `old` do not.
    pub bare: bool,
}

/// The relations of one query level.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// In the order of FROM.
    pub visible: Vec<Visible>,
    /// Columns that a condition keeps from being NULL.
    pub present: BTreeSet<(SourceId, String)>,
    /// The aliases of the select list, before it is lowered.
    pub aliases: Vec<(String, ast::Expr)>,
    /// Output columns by name, once they are known.
    pub outputs: Vec<(String, Expr)>,
    /// Whether the level has GROUP BY.
    pub grouped: bool,
    /// The alias of a write's target where the engine no longer knows it, and the name that it knows.
    pub forgotten: Option<(String, String)>,
}

/// A CTE that can be named.
#[derive(Debug, Clone)]
pub(super) struct Cte {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: Columns,
    /// False for one that could not be understood.
    pub complete: bool,
}

/// A name in the case in which the dialect gives it to whoever reads the rows.
pub(super) fn name_of(ident: &Ident, dialect: Dialect) -> String {
    match (dialect, ident.quote_style) {
        (Dialect::Pg, Some(_)) => ident.value.clone(),
        _ => ident.value.to_lowercase(),
    }
}

/// A name of a table, a column or an alias as both pages may call it: SQLite knows no difference of case.
pub(super) fn known_as(ident: &Ident) -> String {
    ident.value.to_lowercase()
}

/// What looking for a column found.
enum Found {
    Column(SourceId, Option<Type>),
    Ambiguous(Vec<String>),
    /// A relation that is not fully known may have it.
    Perhaps(SourceId),
    Nothing,
}

impl Lower<'_> {
    /// A fresh identity.
    pub(super) fn new_source(&mut self) -> SourceId {
        self.next_source += 1;
        SourceId(self.next_source - 1)
    }

    /// Resolves `[qualifier.]name`.
    pub(super) fn column(&mut self, qualifier: Option<&Ident>, ident: &Ident, span: Span) -> Expr {
        let name = known_as(ident);
        let owner = qualifier.map(known_as);
        let mut known_owner = false;
        for level in (0..self.scopes.len()).rev() {
            let scope = &self.scopes[level];
            if let Some(owner) = &owner {
                let Some(visible) = scope.visible.iter().find(|v| v.alias == *owner) else { continue };
                known_owner = true;
                match find_in(scope, visible, &name, self.dialect) {
                    Some(found) => return column_expr(found.0, name, found.1, span),
                    None => break,
                }
            }
            match find(scope, &name, self.dialect) {
                Found::Column(id, ty) => return column_expr(id, name, ty, span),
                Found::Perhaps(id) => return column_expr(id, name, None, span),
                Found::Ambiguous(owners) => return self.ambiguous(&name, &owners, span),
                Found::Nothing => {}
            }
            // SQLite lets an alias of the select list stand anywhere in the query.
            if self.dialect == Dialect::Sqlite
                && level + 1 == self.scopes.len()
                && let Some(expr) = self.output_alias(ident, span)
            {
                return expr;
            }
        }
        match owner {
            Some(owner) if !known_owner => self.unknown_owner(&owner, span),
            owner => self.unknown_column(owner.as_deref(), ident, &name, span),
        }
    }

    /// The value behind an alias of the innermost select list.
    pub(super) fn output_alias(&mut self, ident: &Ident, span: Span) -> Option<Expr> {
        let name = known_as(ident);
        let aliases = &mut self.scopes.last_mut()?.aliases;
        let at = aliases.iter().position(|(alias, _)| *alias == name)?;
        // The alias is out of sight inside its own value.
        let (alias, node) = aliases.remove(at);
        let expr = self.expr(&node);
        if let Some(scope) = self.scopes.last_mut() {
            scope.aliases.insert(at, (alias, node));
        }
        Some(Expr { span, ..expr })
    }

    /// A bare word that names a whole row of a relation; the value itself where the row is one value.
    pub(super) fn whole_row(&self, ident: &Ident, span: Span) -> Option<Expr> {
        let name = known_as(ident);
        let is_column = |scope: &Scope| !matches!(find(scope, &name, self.dialect), Found::Nothing);
        if self.scopes.iter().any(is_column) {
            return None;
        }
        let row = self.scopes.iter().rev().flat_map(|s| &s.visible).find(|v| v.alias == name)?;
        Some(match row.columns.as_slice() {
            [(column, ty)] if row.call => column_expr(row.id, column.clone(), ty.clone(), span),
            _ => self.opaque(span, None),
        })
    }

    fn ambiguous(&mut self, name: &str, owners: &[String], span: Span) -> Expr {
        let message = format!("`{name}` in `{}` is a column of {}", self.name, listed(owners));
        let help = format!("write `{}.{name}`", owners.first().map_or("table", String::as_str));
        self.report(Diagnostic::error(rule::AMBIGUOUS_COLUMN, message, span, "which one?").help(help));
        self.opaque(span, None)
    }

    fn unknown_owner(&mut self, owner: &str, span: Span) -> Expr {
        let names: Vec<_> = self.scopes.iter().flat_map(|s| &s.visible).map(|v| v.alias.clone()).collect();
        let message = format!("`{owner}` in `{}` names no relation of the statement", self.name);
        let mut finding = Diagnostic::error(rule::UNKNOWN_TABLE, message, span, "not in any FROM here");
        let forgotten = self.scopes.iter().filter_map(|scope| scope.forgotten.as_ref());
        if let Some((_, table)) = forgotten.into_iter().find(|(alias, _)| *alias == owner) {
            finding = finding
                .note("RETURNING of SQLite knows the target by the table's name and not by its alias")
                .help(format!("write the column alone, or with `{table}.` before it"));
        } else if let Some(near) = nearest(owner, names.iter().map(String::as_str)) {
            finding = finding.help(format!("did you mean `{near}`?"));
        }
        self.report(finding);
        self.opaque(span, None)
    }

    fn unknown_column(&mut self, owner: Option<&str>, ident: &Ident, name: &str, span: Span) -> Expr {
        let visible = || {
            let all = self.scopes.iter().rev().flat_map(|s| &s.visible);
            all.filter(|v| owner.is_none_or(|owner| v.alias == owner))
        };
        let mut relations: Vec<String> = Vec::new();
        for relation in visible() {
            if !relations.contains(&relation.alias) {
                relations.push(relation.alias.clone());
            }
        }
        let is_quoted = ident.quote_style == Some('"') && self.dialect == Dialect::Sqlite;
        // A word in capitals is a value, however near a column's name comes to it.
        let is_value = is_quoted && ident.value != ident.value.to_lowercase();
        let near = nearest(name, visible().flat_map(|v| &v.columns).map(|(column, _)| column.as_str()));
        let near = near.filter(|_| !is_value).map(str::to_owned);
        let message = match relations.as_slice() {
            [] => format!("`{name}` in `{}` is a column, but there is no FROM here", self.name),
            [one] => format!("`{one}` has no column `{name}`, which `{}` uses", self.name),
            many => format!("`{name}` in `{}` is no column of {}", self.name, listed(many)),
        };
        let finding = match near {
            None if is_quoted => {
                let message = format!("`{}` writes a text in double quotes, which are for names", self.name);
                let finding = Diagnostic::warning(rule::UNKNOWN_COLUMN, message, span, "no column is called so")
                    .note("a SQLite that is built to take it for a text then does, others refuse the statement")
                    .help("write it in single quotes");
                self.report(finding);
                return Expr { kind: ExprKind::Text(ident.value.clone()), ty: Some(Type::required(Base::Text)), span };
            }
            None => Diagnostic::error(rule::UNKNOWN_COLUMN, message, span, "no such column"),
            Some(near) => Diagnostic::error(rule::UNKNOWN_COLUMN, message, span, "no such column")
                .help(format!("did you mean `{near}`?")),
        };
        self.report(finding);
        self.opaque(span, None)
    }

    /// Makes the columns of a level's relations from `from` on nullable, as an outer join does.
    pub(super) fn outer(&mut self, range: std::ops::Range<usize>) {
        if let Some(scope) = self.scopes.last_mut()
            && let Some(visible) = scope.visible.get_mut(range)
        {
            for v in visible {
                v.outer = true;
                // What an earlier join's condition promised holds for its rows, not for the filled ones.
                scope.present.retain(|(id, _)| *id != v.id);
            }
        }
    }

    /// Notes the columns that a condition of the innermost level keeps from being NULL.
    pub(super) fn keeps_present(&mut self, condition: &Expr) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.present.extend(present_columns(condition));
        }
    }
}

fn column_expr(source: SourceId, column: String, ty: Option<Type>, span: Span) -> Expr {
    Expr { kind: ExprKind::Column { source, column }, ty, span }
}

/// Columns that a relation shows, as the level sees them.
pub(super) fn visible_columns(scope: &Scope, visible: &Visible) -> Columns {
    let outer = is_outer(scope, visible);
    visible.columns.iter().map(|(name, ty)| (name.clone(), as_seen(scope, visible, outer, name, ty))).collect()
}

/// The type of a column as the level sees it.
fn as_seen(scope: &Scope, visible: &Visible, outer: bool, name: &str, ty: &Option<Type>) -> Option<Type> {
    let ty = ty.clone()?;
    let nullable = (ty.nullable || outer) && !scope.present.contains(&(visible.id, name.to_owned()));
    Some(Type { nullable, ..ty })
}

/// Whether an outer join may fill a relation's columns with NULL.
fn is_outer(scope: &Scope, visible: &Visible) -> bool {
    // A condition that one of the columns passes shows that the outer join found a row.
    visible.outer && !scope.present.iter().any(|(id, _)| *id == visible.id)
}

fn find_in(scope: &Scope, visible: &Visible, name: &str, dialect: Dialect) -> Option<(SourceId, Option<Type>)> {
    if let Some((_, ty)) = visible.columns.iter().find(|(column, _)| column == name) {
        return Some((visible.id, as_seen(scope, visible, is_outer(scope, visible), name, ty)));
    }
    if !visible.complete {
        return Some((visible.id, None));
    }
    own_column(visible, name, dialect).map(|ty| (visible.id, ty))
}

/// Columns of every table on Postgres; none is ever NULL.
pub(super) const PG_COLUMNS: [&str; 6] = ["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"];

/// Columns that the engine adds to every table.
fn own_column(visible: &Visible, name: &str, dialect: Dialect) -> Option<Option<Type>> {
    match (dialect, name) {
        _ if !visible.table => None,
        (Dialect::Sqlite, "rowid" | "oid" | "_rowid_") => {
            Some(Some(Type { base: Base::Int64, nullable: visible.outer }))
        }
        (Dialect::Sqlite, "rank") if visible.searched => Some(Some(Type { base: Base::Float64, nullable: true })),
        (Dialect::Sqlite, name) if visible.searched && name == visible.alias => Some(None),
        (Dialect::Pg, name) if PG_COLUMNS.contains(&name) => Some(None),
        _ => None,
    }
}

fn find(scope: &Scope, name: &str, dialect: Dialect) -> Found {
    let named: Vec<&Visible> = scope
        .visible
        .iter()
        .filter(|v| v.bare && v.columns.iter().any(|(column, _)| column == name) && !v.merged.iter().any(|m| m == name))
        .collect();
    match named.as_slice() {
        [one] => find_in(scope, one, name, dialect).map_or(Found::Nothing, |(id, ty)| Found::Column(id, ty)),
        [] => {
            let mut perhaps = scope.visible.iter().filter(|v| v.bare);
            if let Some(unknown) = perhaps.clone().find(|v| !v.complete) {
                return Found::Perhaps(unknown.id);
            }
            perhaps
                .find_map(|v| own_column(v, name, dialect).map(|ty| Found::Column(v.id, ty)))
                .unwrap_or(Found::Nothing)
        }
        many => Found::Ambiguous(many.iter().map(|v| v.alias.clone()).collect()),
    }
}

/// Columns that are not NULL in any row for which `condition` is true.
pub(crate) fn present_columns(condition: &Expr) -> BTreeSet<(SourceId, String)> {
    let mut present = BTreeSet::new();
    rejects_null(condition, &mut present);
    present
}

fn rejects_null(condition: &Expr, present: &mut BTreeSet<(SourceId, String)>) {
    match &condition.kind {
        ExprKind::Binary { op, left, right } if op == "and" => {
            rejects_null(left, present);
            rejects_null(right, present);
        }
        ExprKind::Binary { op, left, right } if op == "or" => {
            let of_right = present_columns(right);
            present.extend(present_columns(left).into_iter().filter(|column| of_right.contains(column)));
        }
        ExprKind::Binary { op, left, right } if op == "=" => {
            each(left, present);
            each(right, present);
        }
        ExprKind::Binary { op, left, right } if ["<>", "<", "<=", ">", ">=", "@>", "<@"].contains(&op.as_str()) => {
            plain(left, present);
            plain(right, present);
        }
        ExprKind::Is { expr, what: "null", negated: true } => plain(expr, present),
        ExprKind::Is { expr, what: "true" | "false", negated: false } => rejects_null_in(expr, present),
        ExprKind::Between { expr, low, high, negated: false } => {
            [expr, low, high].into_iter().for_each(|e| plain(e, present));
        }
        ExprKind::InList { expr, list, negated: false } if !list.is_empty() => each(expr, present),
        ExprKind::InList { expr, list, .. } if !list.is_empty() => plain(expr, present),
        ExprKind::InQuery { expr, negated: false, .. } => each(expr, present),
        ExprKind::Like { expr, pattern, .. } => {
            plain(expr, present);
            plain(pattern, present);
        }
        ExprKind::Any { left, all: false, .. } => plain(left, present),
        ExprKind::Column { .. } => plain(condition, present),
        ExprKind::Unary { op, expr } if op == "not" => match &expr.kind {
            ExprKind::Is { expr, what: "null", negated: false } => plain(expr, present),
            _ => rejects_null_in(expr, present),
        },
        _ => {}
    }
}

/// Under NOT only a comparison itself still speaks about its own columns.
fn rejects_null_in(condition: &Expr, present: &mut BTreeSet<(SourceId, String)>) {
    match &condition.kind {
        ExprKind::Column { .. } => plain(condition, present),
        ExprKind::Binary { op, .. } if !["and", "or"].contains(&op.as_str()) => rejects_null(condition, present),
        _ => {}
    }
}

fn plain(expr: &Expr, present: &mut BTreeSet<(SourceId, String)>) {
    match &expr.kind {
        ExprKind::Column { source, column } => {
            present.insert((*source, column.clone()));
        }
        ExprKind::Cast { expr, .. } | ExprKind::Collate { expr, .. } => plain(expr, present),
        _ => {}
    }
}

/// Of a row that equals another one every value is there; of one that differs or comes before it, some may be NULL.
fn each(expr: &Expr, present: &mut BTreeSet<(SourceId, String)>) {
    match &expr.kind {
        ExprKind::Tuple(items) => items.iter().for_each(|item| plain(item, present)),
        _ => plain(expr, present),
    }
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
