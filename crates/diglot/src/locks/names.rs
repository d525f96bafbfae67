//! When two rows are the same: what a column of a source is equal to.

use std::collections::{BTreeMap, BTreeSet};

use super::Term;
use crate::tree::{
    Body, Expr, ExprKind, OutputColumn, Part, Query, Rows, Select, Source, SourceId, SourceKind, Statement,
};

/// The terms that a statement's conditions make equal.
pub(super) struct Names<'t> {
    statement: &'t Statement,
    parents: BTreeMap<Term, Term>,
    /// The columns of sources that something else stands for, by their names: every column of a table is asked for, and to
    /// look one up among the parents it would have to be a term.
    replaced: BTreeMap<u32, BTreeSet<String>>,
    /// Sources of which the statement takes one row.
    single: BTreeSet<u32>,
    /// Sources of which a LIMIT takes some rows.
    limited: BTreeSet<u32>,
}

impl<'t> Names<'t> {
    pub(super) fn of(statement: &'t Statement) -> Self {
        let mut names = Self {
            statement,
            parents: BTreeMap::new(),
            replaced: BTreeMap::new(),
            single: BTreeSet::new(),
            limited: BTreeSet::new(),
        };
        for part in &statement.parts {
            names.part(part);
        }
        names
    }

    fn part(&mut self, part: &'t Part) {
        match &part.body {
            Body::Update(update) => self.conditions(update.filter.as_ref()),
            Body::Delete(delete) => self.conditions(delete.filter.as_ref()),
            Body::Query(_) | Body::Insert(_) => {}
        }
        for source in part.sources() {
            self.source(source, part.statement);
        }
        for query in part.queries() {
            let one = matches!(query.limit.as_ref().map(|limit| &limit.kind), Some(ExprKind::Number(n)) if n == "1");
            for select in selects(&query.rows) {
                self.conditions(select.filter.as_ref());
                let sources = select.from.iter().map(|source| source.id.0);
                if one {
                    self.single.extend(sources);
                } else if query.limit.is_some() {
                    self.limited.extend(sources);
                }
            }
        }
    }

    fn source(&mut self, source: &'t Source, statement: usize) {
        self.conditions(source.join.as_ref().and_then(|join| join.on.as_ref()));
        let columns: &[OutputColumn] = match &source.kind {
            SourceKind::Cte(name) => self.cte(name, statement),
            SourceKind::Derived(query) => outputs(&query.rows),
            SourceKind::Table(_) | SourceKind::Rows(_) | SourceKind::Function { .. } | SourceKind::Excluded => &[],
        };
        // A CTE may give its columns other names, so they are found by their place.
        for ((name, _), column) in source.columns.iter().zip(columns) {
            let term = self.term(&column.expr);
            self.unite(Term::Column(source.id.0, name.clone()), term);
        }
    }

    /// The columns that a CTE gives.
    fn cte(&self, name: &str, statement: usize) -> &'t [OutputColumn] {
        let is_it = |part: &&Part| part.name.as_deref() == Some(name) && part.statement == statement;
        match self.statement.parts.iter().find(is_it).map(|part| &part.body) {
            Some(Body::Query(query)) => outputs(&query.rows),
            Some(Body::Insert(insert)) => &insert.returning,
            Some(Body::Update(update)) => &update.returning,
            Some(Body::Delete(delete)) => &delete.returning,
            None => &[],
        }
    }

    fn conditions(&mut self, filter: Option<&'t Expr>) {
        for condition in filter.into_iter().flat_map(Expr::conjuncts) {
            match &condition.kind {
                ExprKind::Binary { op, left, right } if op == "=" => self.equal(left, right),
                ExprKind::Any { op, left, right, all: false } if op == "=" => match &right.bare().kind {
                    ExprKind::Scalar(query) => self.within(left, query),
                    ExprKind::Param(list) => {
                        let column = self.term(left);
                        self.unite(column, Term::Each(list.clone()));
                    }
                    _ => {}
                },
                ExprKind::InQuery { expr, query, negated: false } => self.within(expr, query),
                _ => {}
            }
        }
    }

    fn equal(&mut self, left: &'t Expr, right: &'t Expr) {
        match (&left.kind, &right.kind) {
            (ExprKind::Tuple(left), ExprKind::Tuple(right)) => {
                left.iter().zip(right).for_each(|(left, right)| self.equal(left, right));
            }
            (_, ExprKind::Scalar(query)) => self.within(left, query),
            (ExprKind::Scalar(query), _) => self.within(right, query),
            _ => {
                let (left, right) = (self.term(left), self.term(right));
                self.unite(left, right);
            }
        }
    }

    fn within(&mut self, left: &'t Expr, query: &'t Query) {
        let items = match &left.kind {
            ExprKind::Tuple(items) => items.iter().collect(),
            _ => vec![left],
        };
        for (item, column) in items.into_iter().zip(outputs(&query.rows)) {
            self.equal(item, &column.expr);
        }
    }

    fn term(&self, expr: &Expr) -> Term {
        match &expr.bare().kind {
            ExprKind::Param(name) => Term::Param(name.clone()),
            ExprKind::Number(text) | ExprKind::Text(text) | ExprKind::Blob(text) => Term::Literal(text.clone()),
            ExprKind::Column { source, column } => Term::Column(source.0, column.clone()),
            _ => Term::Made(expr.span.start, is_constant(expr)),
        }
    }

    /// What stands for all that is equal to an expression.
    pub(super) fn named(&self, expr: &Expr) -> Term {
        self.root(&self.term(expr)).clone()
    }

    /// What stands for all that is equal to a column.
    pub(super) fn column(&self, source: SourceId, column: &str) -> Term {
        self.replaced(source, column).unwrap_or_else(|| Term::Column(source.0, column.to_owned()))
    }

    /// What else stands for a column.
    pub(super) fn replaced(&self, source: SourceId, column: &str) -> Option<Term> {
        let is_replaced = self.replaced.get(&source.0).is_some_and(|columns| columns.contains(column));
        is_replaced.then(|| self.root(&Term::Column(source.0, column.to_owned())).clone())
    }

    /// Whether a term has one value in the statement.
    pub(super) fn is_one(&self, term: &Term) -> bool {
        match term {
            Term::Param(_) | Term::Literal(_) | Term::Made(_, true) => true,
            Term::Column(source, _) => self.single.contains(source),
            Term::Each(_) | Term::Made(_, false) => false,
        }
    }

    /// Whether a query's LIMIT 1 leaves one row of a source.
    pub(super) fn is_single(&self, source: SourceId) -> bool {
        self.single.contains(&source.0)
    }

    /// Whether a query's LIMIT leaves some rows of a source.
    pub(super) fn is_limited(&self, source: u32) -> bool {
        self.limited.contains(&source)
    }

    /// The columns of sources that are equal to a term.
    pub(super) fn equals<'n>(&'n self, term: &'n Term) -> impl Iterator<Item = (u32, &'n str)> {
        let same = self.parents.keys().filter(move |known| self.root(known) == term);
        same.filter_map(|known| match known {
            Term::Column(source, column) => Some((*source, column.as_str())),
            _ => None,
        })
    }

    fn root<'n>(&'n self, mut term: &'n Term) -> &'n Term {
        while let Some(parent) = self.parents.get(term) {
            term = parent;
        }
        term
    }

    /// Makes two terms equal; what is known before the statement runs stands for both.
    fn unite(&mut self, left: Term, right: Term) {
        let (left, right) = (self.root(&left), self.root(&right));
        if left != right {
            let (keeps, goes) = if left < right { (left, right) } else { (right, left) };
            let (goes, keeps) = (goes.clone(), keeps.clone());
            if let Term::Column(source, column) = &goes {
                self.replaced.entry(*source).or_default().insert(column.clone());
            }
            self.parents.insert(goes, keeps);
        }
    }
}

/// Whether an expression has one value whatever the rows are.
fn is_constant(expr: &Expr) -> bool {
    let varies = |expr: &Expr| matches!(expr.kind, ExprKind::Column { .. }) || expr.subquery().is_some();
    !expr.exprs().into_iter().any(varies)
}

/// Every SELECT of rows, but for subqueries.
pub(super) fn selects(rows: &Rows) -> Vec<&Select> {
    match rows {
        Rows::Select(select) => vec![select],
        Rows::Set { left, right, .. } => [selects(left), selects(right)].concat(),
        Rows::Values(..) | Rows::Query(_) => Vec::new(),
    }
}

/// The columns that rows have, if they all come from one SELECT.
pub(super) fn outputs(rows: &Rows) -> &[OutputColumn] {
    match rows {
        Rows::Select(select) => &select.columns,
        Rows::Query(query) => outputs(&query.rows),
        Rows::Values(..) | Rows::Set { .. } => &[],
    }
}
