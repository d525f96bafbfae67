//! Ways through the tree: the columns of what it holds, its sources, and every expression in it.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Body, Conflict, ConflictAction, Expr, ExprKind, OrderKey, OutputColumn, Part, Query, Rows, Select, Source,
    SourceId, SourceKind, Statement, Window,
};
use crate::types::{Base, Type};

impl Statement {
    /// The columns that the statement returns, in order; none when it returns no rows.
    pub fn columns(&self) -> Vec<(String, Option<Type>)> {
        self.result.and_then(|index| self.parts.get(index)).map_or_else(Vec::new, Part::columns)
    }

    /// The source with that identity, wherever it stands. `excluded` has none: it shows the target's columns.
    pub fn source(&self, id: SourceId) -> Option<&Source> {
        self.sources().into_iter().find(|source| source.id == id)
    }

    /// Every source by its identity, for more than one look.
    pub fn sources_by_id(&self) -> BTreeMap<SourceId, &Source> {
        self.sources().into_iter().map(|source| (source.id, source)).collect()
    }

    /// Every source of the statement: targets, FROM and USING, those of subqueries and CTEs too.
    pub fn sources(&self) -> Vec<&Source> {
        Walk::sources(|walk| self.parts.iter().for_each(|part| walk.body(&part.body)))
    }

    /// Whether a parameter is a list of ids as their digits wherever it stands:
    /// `lower(hex(id)) IN (SELECT value FROM json_each(:ids))`.
    pub(crate) fn takes_digits(&self, param: &str) -> bool {
        let is_list = |expr: &&Expr| match &expr.kind {
            ExprKind::InQuery { expr, query, .. } if expr.digits_of().is_some() => {
                let is_value = |it: &Expr| matches!(&it.kind, ExprKind::Column { column, .. } if column == "value");
                query.element_of().is_some_and(|(element, list)| is_value(element) && list.is_param(param))
            }
            _ => false,
        };
        let uses = self.params.iter().filter(|used| used.name == param).count();
        uses > 0 && self.exprs().iter().filter(|expr| is_list(expr)).count() == uses
    }

    /// The parameters that are a LIMIT or an OFFSET as they are.
    pub(crate) fn row_counts(&self) -> BTreeSet<&str> {
        let queries = self.parts.iter().flat_map(Part::queries);
        let counts = queries.flat_map(|query| query.limit.iter().chain(&query.offset));
        let params = counts.filter_map(|count| match &count.bare().kind {
            ExprKind::Param(name) => Some(name.as_str()),
            _ => None,
        });
        params.collect()
    }

    /// Whether it reads that field of the rows that it takes.
    pub(crate) fn reads_field(&self, field: &str) -> bool {
        let sources = self.sources_by_id();
        let is_rows = |id: &SourceId| sources.get(id).is_some_and(|source| matches!(source.kind, SourceKind::Rows(_)));
        let reads = |expr: &&Expr| matches!(&expr.kind, ExprKind::Column { source, column } if column == field && is_rows(source));
        self.exprs().iter().any(reads)
    }

    /// Every expression of the statement, each before those inside it, subqueries included.
    pub fn exprs(&self) -> Vec<&Expr> {
        Walk::exprs(|walk| self.parts.iter().for_each(|part| walk.body(&part.body)))
    }
}

impl Part {
    /// The columns that the part gives: of a query, or of RETURNING.
    pub fn columns(&self) -> Vec<(String, Option<Type>)> {
        let outputs = |columns: &[OutputColumn]| {
            columns.iter().map(|column| (column.name.clone(), column.expr.ty.clone())).collect()
        };
        match &self.body {
            Body::Query(query) => query.columns(),
            Body::Insert(insert) => outputs(&insert.returning),
            Body::Update(update) => outputs(&update.returning),
            Body::Delete(delete) => outputs(&delete.returning),
        }
    }

    /// The target of a write.
    pub fn target(&self) -> Option<&Source> {
        match &self.body {
            Body::Query(_) => None,
            Body::Insert(insert) => Some(&insert.target),
            Body::Update(update) => Some(&update.target),
            Body::Delete(delete) => Some(&delete.target),
        }
    }

    /// Every expression of the part, each before those inside it.
    pub fn exprs(&self) -> Vec<&Expr> {
        Walk::exprs(|walk| walk.body(&self.body))
    }

    /// Every query of the part: its own and those inside it, each before those inside it.
    pub fn queries(&self) -> Vec<&Query> {
        Walk::queries(|walk| walk.body(&self.body))
    }

    /// Every source of the part.
    pub fn sources(&self) -> Vec<&Source> {
        Walk::sources(|walk| walk.body(&self.body))
    }
}

impl Source {
    /// The name of the table that it is.
    pub fn table(&self) -> Option<&str> {
        match &self.kind {
            SourceKind::Table(name) => Some(name),
            _ => None,
        }
    }

    /// The name of the CTE that it is.
    pub fn cte(&self) -> Option<&str> {
        match &self.kind {
            SourceKind::Cte(name) => Some(name),
            _ => None,
        }
    }
}

/// The functions of Postgres that give the elements of a document as texts.
pub(crate) const TEXTS_OF_DOCUMENTS: [&str; 2] = ["jsonb_array_elements_text", "json_array_elements_text"];

impl Query {
    /// Rows that are neither ordered nor cut off nor locked, without CTEs.
    pub(crate) fn bare(rows: Rows, span: crate::source::Span) -> Self {
        Self { rows, ctes: Vec::new(), order: Vec::new(), limit: None, offset: None, locks: Vec::new(), span }
    }

    /// The list of `SELECT value FROM json_each(list)`.
    pub(crate) fn each_of(&self) -> Option<&Expr> {
        let Rows::Select(select) = &self.rows else { return None };
        let [Source { kind: SourceKind::Function { name, args }, .. }] = select.from.as_slice() else { return None };
        match (name.as_str(), args.as_slice()) {
            ("json_each" | "jsonb_each", [list]) => Some(list),
            _ => None,
        }
    }

    /// The list whose elements a query gives: that of `each_of`, or the parameter of `items_of`.
    pub(crate) fn taken_apart(&self) -> Option<&Expr> {
        self.each_of().or_else(|| self.items_of().map(Expr::bare))
    }

    /// The parameter of `SELECT item FROM unnest(:list) AS item`, or of the elements of a document as texts, where no item
    /// is left out.
    pub fn items_of(&self) -> Option<&Expr> {
        let Rows::Select(select) = &self.rows else { return None };
        let ([source], [output]) = (select.from.as_slice(), select.columns.as_slice()) else { return None };
        let SourceKind::Function { name, args } = &source.kind else { return None };
        let is_list = name == "unnest" || TEXTS_OF_DOCUMENTS.contains(&name.as_str());
        let is_whole = select.filter.is_none() && select.group.is_empty() && select.having.is_none();
        let is_uncut = self.limit.is_none() && self.offset.is_none() && self.ctes.is_empty();
        let (first, _) = source.columns.first()?;
        let is_first = |expr: &Expr| matches!(&expr.bare().kind, ExprKind::Column { source: of, column } if *of == source.id && column == first);
        let ([list], true) = (args.as_slice(), is_list && is_whole && is_uncut && is_first(&output.expr)) else {
            return None;
        };
        matches!(list.bare().kind, ExprKind::Param(_)).then_some(list)
    }

    /// The element and the list of `SELECT element FROM json_each(list)`, where no element is left out.
    pub(crate) fn element_of(&self) -> Option<(&Expr, &Expr)> {
        let Rows::Select(select) = &self.rows else { return None };
        let ([source], [output], None, None) =
            (select.from.as_slice(), select.columns.as_slice(), &select.filter, &self.limit)
        else {
            return None;
        };
        match &source.kind {
            SourceKind::Function { name, args } if name == "json_each" => match args.as_slice() {
                [list] => Some((&output.expr, list)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The columns of the query's rows. A set operation's may be NULL where either side's may.
    pub fn columns(&self) -> Vec<(String, Option<Type>)> {
        self.rows.columns()
    }

    /// Every source of the query, those of its subqueries too.
    pub(crate) fn sources(&self) -> Vec<&Source> {
        Walk::sources(|walk| walk.query(self))
    }

    /// Every expression of the query, each before those inside it.
    pub fn exprs(&self) -> Vec<&Expr> {
        Walk::exprs(|walk| walk.query(self))
    }
}

impl Rows {
    /// The columns of the rows.
    pub fn columns(&self) -> Vec<(String, Option<Type>)> {
        self.cells().into_iter().map(|(name, cell)| (name, cell.ty)).collect()
    }

    /// Gives the columns other names, in their order. The first side of a set operation names those of all.
    pub(crate) fn rename(&mut self, names: &[String]) {
        match self {
            Rows::Select(select) => {
                select.columns.iter_mut().zip(names).for_each(|(column, name)| column.name.clone_from(name));
            }
            Rows::Set { left, .. } => left.rename(names),
            Rows::Query(query) => query.rows.rename(names),
            Rows::Values(..) => {}
        }
    }

    /// What each SELECT, and each row of VALUES, gives of these rows.
    pub(crate) fn sides(&self) -> Vec<Vec<&Expr>> {
        match self {
            Rows::Select(select) => vec![select.columns.iter().map(|column| &column.expr).collect()],
            Rows::Values(rows, _) => rows.iter().map(|row| row.iter().collect()).collect(),
            Rows::Set { op: "except", left, .. } => left.sides(),
            Rows::Set { left, right, .. } => [left.sides(), right.sides()].concat(),
            Rows::Query(query) => query.rows.sides(),
        }
    }

    fn cells(&self) -> Vec<(String, Cell)> {
        match self {
            Rows::Select(select) => select.columns.iter().map(|c| (c.name.clone(), Cell::of(&c.expr))).collect(),
            Rows::Values(rows, _) => {
                let width = rows.first().map_or(0, Vec::len);
                let column = |i: usize| rows.iter().filter_map(|row| row.get(i)).map(Cell::of).reduce(Cell::or);
                (0..width).filter_map(|i| Some((format!("column{}", i + 1), column(i)?))).collect()
            }
            Rows::Set { op, left, right, .. } => {
                let mut cells = left.cells();
                if *op == "union" {
                    for (cell, (_, other)) in cells.iter_mut().zip(right.cells()) {
                        cell.1 = std::mem::take(&mut cell.1).or(other);
                    }
                }
                cells
            }
            Rows::Query(query) => query.rows.cells(),
        }
    }
}

/// What a column holds in one row or the other; a NULL literal has no type but is NULL.
#[derive(Default)]
struct Cell {
    ty: Option<Type>,
    null: bool,
}

impl Cell {
    fn of(expr: &Expr) -> Cell {
        Cell { ty: expr.ty.clone(), null: matches!(expr.kind, ExprKind::Null) }
    }

    fn or(self, other: Cell) -> Cell {
        let null = self.null || other.null;
        let either_null = [&self.ty, &other.ty].into_iter().flatten().any(|ty| ty.nullable);
        let ty = self.ty.or(other.ty).map(|ty| Type { nullable: null || either_null, ..ty });
        Cell { ty, null }
    }
}

impl Expr {
    /// What the expression holds in its own dialect, where known.
    pub fn base(&self) -> Option<&Base> {
        self.ty.as_ref().map(|ty| &ty.base)
    }

    /// The bytes of which `lower(hex(bytes))` writes the digits.
    pub(crate) fn digits_of(&self) -> Option<&Expr> {
        self.argument_of("lower")?.argument_of("hex")
    }

    /// The list of `id = ANY(list)`.
    pub(crate) fn list_of_ids(&self) -> Option<&Expr> {
        match &self.kind {
            ExprKind::Any { left, right, .. } if left.base() == Some(&Base::Uuid) => Some(right),
            _ => None,
        }
    }

    /// Whether it is a call of a function of that name.
    pub(crate) fn calls(&self, function: &str) -> bool {
        matches!(&self.kind, ExprKind::Call { name, .. } if name == function)
    }

    /// What a function of that name is called with, if that is one thing.
    fn argument_of(&self, function: &str) -> Option<&Expr> {
        match &self.kind {
            ExprKind::Call { name, args, .. } if name == function => match args.as_slice() {
                [only] => Some(only),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether it is known never to be NULL, as its page and its schema say; what a pair knows besides, `normal` adds.
    pub(crate) fn is_present(&self) -> bool {
        self.ty.as_ref().is_some_and(|ty| !ty.nullable)
    }

    /// The expression under its casts.
    pub fn bare(&self) -> &Expr {
        match &self.kind {
            ExprKind::Cast { expr, .. } => expr.bare(),
            _ => self,
        }
    }

    /// Whether it is a copy of another expression, of which it has the places in the text.
    pub(crate) fn is_copy_of(&self, other: &Expr) -> bool {
        format!("{:?}", self.kind) == format!("{:?}", other.kind)
    }

    /// Whether it is a parameter, under whatever type.
    pub(crate) fn is_param(&self, param: &str) -> bool {
        matches!(&self.bare().kind, ExprKind::Param(name) if name == param)
    }

    /// The conditions that it joins with AND, at every depth; itself when it joins none.
    pub fn conjuncts(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Binary { op, left, right } if op == "and" => [left.conjuncts(), right.conjuncts()].concat(),
            _ => vec![self],
        }
    }

    /// The query inside the expression.
    pub fn subquery(&self) -> Option<&Query> {
        match &self.kind {
            ExprKind::Scalar(query) | ExprKind::Exists { query, .. } | ExprKind::InQuery { query, .. } => Some(query),
            _ => None,
        }
    }

    /// The expression and every one inside it, each before those inside it, subqueries included.
    pub fn exprs(&self) -> Vec<&Expr> {
        Walk::exprs(|walk| walk.expr(self))
    }
}

/// Calls `visit` for every expression of a statement, each before those inside it.
pub fn walk_exprs<'t>(statement: &'t Statement, visit: &mut impl FnMut(&'t Expr)) {
    statement.exprs().into_iter().for_each(visit);
}

/// A walk that collects what it was asked for.
#[derive(Default)]
struct Walk<'t> {
    exprs: Option<Vec<&'t Expr>>,
    sources: Option<Vec<&'t Source>>,
    queries: Option<Vec<&'t Query>>,
}

impl<'t> Walk<'t> {
    fn exprs(walk: impl FnOnce(&mut Self)) -> Vec<&'t Expr> {
        let mut exprs = Self { exprs: Some(Vec::with_capacity(64)), ..Self::default() };
        walk(&mut exprs);
        exprs.exprs.unwrap_or_default()
    }

    fn sources(walk: impl FnOnce(&mut Self)) -> Vec<&'t Source> {
        let mut sources = Self { sources: Some(Vec::new()), ..Self::default() };
        walk(&mut sources);
        sources.sources.unwrap_or_default()
    }

    fn queries(walk: impl FnOnce(&mut Self)) -> Vec<&'t Query> {
        let mut queries = Self { queries: Some(Vec::new()), ..Self::default() };
        walk(&mut queries);
        queries.queries.unwrap_or_default()
    }

    fn body(&mut self, body: &'t Body) {
        match body {
            Body::Query(query) => self.query(query),
            Body::Insert(insert) => {
                self.source(&insert.target);
                self.query(&insert.rows);
                if let Some(conflict) = &insert.conflict {
                    self.conflict(conflict);
                }
                self.columns(&insert.returning);
            }
            Body::Update(update) => {
                self.source(&update.target);
                update.set.iter().for_each(|assignment| self.expr(&assignment.value));
                update.from.iter().for_each(|source| self.source(source));
                self.maybe(update.filter.as_ref());
                self.columns(&update.returning);
            }
            Body::Delete(delete) => {
                self.source(&delete.target);
                delete.using.iter().for_each(|source| self.source(source));
                self.maybe(delete.filter.as_ref());
                self.columns(&delete.returning);
            }
        }
    }

    fn conflict(&mut self, conflict: &'t Conflict) {
        self.maybe(conflict.target_filter.as_ref());
        if let ConflictAction::Update { set, filter, .. } = &conflict.action {
            set.iter().for_each(|assignment| self.expr(&assignment.value));
            self.maybe(filter.as_ref());
        }
    }

    fn query(&mut self, query: &'t Query) {
        if let Some(queries) = &mut self.queries {
            queries.push(query);
        }
        query.ctes.iter().for_each(|(_, query)| self.query(query));
        self.rows(&query.rows);
        self.order(&query.order);
        self.maybe(query.limit.as_ref());
        self.maybe(query.offset.as_ref());
    }

    fn rows(&mut self, rows: &'t Rows) {
        match rows {
            Rows::Select(select) => self.select(select),
            Rows::Values(rows, _) => self.all(rows.iter().flatten()),
            Rows::Set { left, right, .. } => {
                self.rows(left);
                self.rows(right);
            }
            Rows::Query(query) => self.query(query),
        }
    }

    fn select(&mut self, select: &'t Select) {
        if let Some((keys, _)) = &select.distinct {
            self.all(keys);
        }
        self.columns(&select.columns);
        select.from.iter().for_each(|source| self.source(source));
        self.maybe(select.filter.as_ref());
        self.all(&select.group);
        self.maybe(select.having.as_ref());
    }

    fn source(&mut self, source: &'t Source) {
        if let Some(sources) = &mut self.sources {
            sources.push(source);
        }
        match &source.kind {
            SourceKind::Derived(query) => self.query(query),
            SourceKind::Function { args, .. } => self.all(args),
            SourceKind::Table(_) | SourceKind::Cte(_) | SourceKind::Rows(_) | SourceKind::Excluded => {}
        }
        self.maybe(source.join.as_ref().and_then(|join| join.on.as_ref()));
    }

    fn columns(&mut self, columns: &'t [OutputColumn]) {
        columns.iter().for_each(|column| self.expr(&column.expr));
    }

    fn order(&mut self, order: &'t [OrderKey]) {
        order.iter().for_each(|key| self.expr(&key.expr));
    }

    fn maybe(&mut self, expr: Option<&'t Expr>) {
        if let Some(expr) = expr {
            self.expr(expr);
        }
    }

    fn all(&mut self, exprs: impl IntoIterator<Item = &'t Expr>) {
        exprs.into_iter().for_each(|expr| self.expr(expr));
    }

    fn expr(&mut self, expr: &'t Expr) {
        use ExprKind as K;
        if let Some(exprs) = &mut self.exprs {
            exprs.push(expr);
        }
        match &expr.kind {
            K::Param(_) | K::Null | K::Bool(_) | K::Number(_) | K::Text(_) | K::Blob(_) => {}
            K::Column { .. } | K::Opaque(_) => {}
            K::Unary { expr, .. } | K::Is { expr, .. } | K::Cast { expr, .. } | K::Collate { expr, .. } => {
                self.expr(expr);
            }
            K::Binary { left, right, .. } | K::Any { left, right, .. } => self.all([&**left, &**right]),
            K::Between { expr, low, high, .. } => self.all([&**expr, &**low, &**high]),
            K::InList { expr, list, .. } => {
                self.expr(expr);
                self.all(list);
            }
            K::InQuery { expr, query, .. } => {
                self.expr(expr);
                self.query(query);
            }
            K::Exists { query, .. } | K::Scalar(query) => self.query(query),
            K::Like { expr, pattern, .. } => self.all([&**expr, &**pattern]),
            K::Call { args, order, filter, over, .. } => {
                self.all(args);
                self.order(order);
                self.maybe(filter.as_deref());
                if let Some(window) = over {
                    self.window(window);
                }
            }
            K::Case { operand, branches, otherwise } => {
                self.maybe(operand.as_deref());
                branches.iter().for_each(|(condition, value)| self.all([condition, value]));
                self.maybe(otherwise.as_deref());
            }
            K::Array(items) | K::Tuple(items) => self.all(items),
        }
    }

    fn window(&mut self, window: &'t Window) {
        self.all(&window.partition);
        self.order(&window.order);
        self.all(&window.bounds);
    }
}
