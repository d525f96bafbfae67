//! The columns of a view.
//!
//! A column is typed when it is a column of a table or view in FROM, a literal, `count(…)` or a cast.
//! Anything else is taken as text that may be NULL, with a warning that asks for a cast.

use sqlparser::ast::{
    BinaryOperator, CreateView, Expr, FunctionArguments, Ident, JoinOperator, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, Spanned, TableFactor, Value,
};

use super::key::lower;
use super::migration::Piece;
use super::read::{Reader, last};
use super::{Column, Fill, Table};
use crate::types::{Base, Type};

/// A relation in FROM: the name by which the query calls it, and its columns.
struct Relation {
    alias: String,
    columns: Vec<Column>,
}

impl Reader {
    pub(super) fn create_view(&mut self, piece: &Piece, create: &CreateView) {
        let name = last(&create.name);
        if create.if_not_exists && self.schema.tables.contains_key(&name) {
            return;
        }
        let mut view = Table::new(name, piece.place(create.name.span()));
        view.view = true;
        view.within = self.within(&create.name);
        view.quoted = self.quoted(&create.name);
        view.columns = self.query_columns(piece, &create.query);
        for (column, named) in view.columns.iter_mut().zip(&create.columns) {
            column.name = lower(&named.name);
            column.span = piece.place(named.name.span);
        }
        self.schema.tables.insert(view.name.clone(), view);
    }

    /// The columns that a query gives. Of a set operation, the left side names and types them.
    pub(super) fn query_columns(&mut self, piece: &Piece, query: &Query) -> Vec<Column> {
        let mut body = &*query.body;
        loop {
            match body {
                SetExpr::SetOperation { left, .. } => body = left,
                SetExpr::Query(query) => body = &query.body,
                SetExpr::Select(select) => return self.select_columns(piece, select),
                _ => {
                    let help = "write it as a SELECT whose columns have names";
                    self.unreadable(
                        "the columns of this query are not known",
                        piece.place(body.span()),
                        "not a SELECT",
                        help,
                    );
                    return Vec::new();
                }
            }
        }
    }

    fn select_columns(&mut self, piece: &Piece, select: &Select) -> Vec<Column> {
        let relations = self.relations(piece, select);
        let mut columns = Vec::new();
        for item in &select.projection {
            match item {
                SelectItem::UnnamedExpr(expr) => columns.push(self.item(piece, expr, None, &relations)),
                SelectItem::ExprWithAlias { expr, alias } => {
                    columns.push(self.item(piece, expr, Some(alias), &relations))
                }
                SelectItem::Wildcard(_) => columns.extend(relations.iter().flat_map(|r| r.columns.iter().cloned())),
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                    let alias = last(name);
                    let named = relations.iter().filter(|relation| relation.alias == alias);
                    columns.extend(named.flat_map(|relation| relation.columns.iter().cloned()));
                }
                _ => self.unreadable(
                    "a column of this query is not known",
                    piece.place(item.span()),
                    "neither a column nor an expression",
                    "name each column on its own",
                ),
            }
        }
        columns
    }

    /// What stands in FROM, with the NULLs that outer joins and `IS NOT NULL` in WHERE bring or exclude.
    fn relations(&mut self, piece: &Piece, select: &Select) -> Vec<Relation> {
        let mut relations: Vec<Relation> = Vec::new();
        for from in &select.from {
            let first = relations.len();
            relations.extend(self.relation(piece, &from.relation));
            for join in &from.joins {
                use JoinOperator::{FullOuter, Left, LeftOuter, Right, RightOuter};
                let before = relations.len();
                relations.extend(self.relation(piece, &join.relation));
                if matches!(join.join_operator, Left(_) | LeftOuter(_) | FullOuter(_)) {
                    relations[before..].iter_mut().for_each(Relation::make_optional);
                }
                if matches!(join.join_operator, Right(_) | RightOuter(_) | FullOuter(_)) {
                    relations[first..before].iter_mut().for_each(Relation::make_optional);
                }
            }
        }
        let mut required = Vec::new();
        if let Some(filter) = &select.selection {
            not_null(filter, &mut required);
        }
        for (alias, name) in required {
            let named = relations.iter_mut().filter(|relation| alias.as_ref().is_none_or(|a| relation.alias == *a));
            for column in named.flat_map(|relation| &mut relation.columns).filter(|column| column.name == name) {
                column.ty.nullable = false;
            }
        }
        relations
    }

    fn relation(&mut self, piece: &Piece, factor: &TableFactor) -> Option<Relation> {
        match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let columns = self.table(piece, name)?.columns.clone();
                let alias = alias.as_ref().map_or_else(|| last(name), |alias| lower(&alias.name));
                Some(Relation { alias, columns })
            }
            TableFactor::Derived { subquery, alias: Some(alias), .. } => {
                let columns = self.query_columns(piece, subquery);
                Some(Relation { alias: lower(&alias.name), columns })
            }
            _ => None,
        }
    }

    fn item(&mut self, piece: &Piece, expr: &Expr, alias: Option<&Ident>, relations: &[Relation]) -> Column {
        let span = piece.place(alias.map_or_else(|| expr.span(), |alias| alias.span));
        let name = alias.map(lower).or_else(|| path(expr).map(|(_, name)| name)).unwrap_or_else(|| match expr {
            Expr::Function(function) => last(&function.name),
            _ => "?column?".to_owned(),
        });
        let ty = self.item_type(expr, relations).unwrap_or_else(|| {
            let message = format!("the type of the view's column `{name}` is not known");
            self.untyped(&message, span, &format!("write `CAST(… AS TYPE) AS {name}`"));
            Type::optional(Base::Text)
        });
        Column {
            name,
            declared: ty.base.word().to_owned(),
            ty,
            has_default: false,
            fill: Fill::Nothing,
            collation: None,
            words: None,
            span,
        }
    }

    fn item_type(&self, expr: &Expr, relations: &[Relation]) -> Option<Type> {
        if let Some((alias, name)) = path(expr) {
            let mut named = relations.iter().filter(|relation| alias.as_ref().is_none_or(|a| relation.alias == *a));
            return named
                .find_map(|relation| relation.columns.iter().find(|column| column.name == name))
                .map(|c| c.ty.clone());
        }
        match expr {
            Expr::Nested(inner) => self.item_type(inner, relations),
            Expr::Cast { expr, data_type, .. } => {
                let nullable = self.item_type(expr, relations).is_none_or(|ty| ty.nullable);
                self.base(data_type).map(|base| Type { base, nullable })
            }
            Expr::Function(function) if last(&function.name) == "count" && function.args != FunctionArguments::None => {
                Some(Type::required(Base::Int64))
            }
            Expr::Value(value) => match &value.value {
                Value::Number(digits, _) if digits.parse::<i64>().is_ok() => Some(Type::required(Base::Int64)),
                Value::SingleQuotedString(_) => Some(Type::required(Base::Text)),
                Value::Boolean(_) => Some(Type::required(Base::Bool)),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Relation {
    fn make_optional(&mut self) {
        for column in &mut self.columns {
            column.ty.nullable = true;
        }
    }
}

/// `column` or `relation.column`.
fn path(expr: &Expr) -> Option<(Option<String>, String)> {
    match expr {
        Expr::Identifier(ident) => Some((None, lower(ident))),
        Expr::CompoundIdentifier(parts) => match &parts[..] {
            [.., relation, column] => Some((Some(lower(relation)), lower(column))),
            _ => None,
        },
        _ => None,
    }
}

/// The columns that a condition requires to be not null, by its top-level conjuncts.
fn not_null(filter: &Expr, required: &mut Vec<(Option<String>, String)>) {
    match filter {
        Expr::Nested(inner) => not_null(inner, required),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            not_null(left, required);
            not_null(right, required);
        }
        Expr::IsNotNull(inner) => required.extend(path(inner)),
        _ => {}
    }
}
