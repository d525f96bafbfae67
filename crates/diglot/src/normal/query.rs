//! Queries in normal form: sources, clauses, and the order of rows with the place that NULLs really take.

use super::asked_for_truth::asked_for_truth;
use super::head::{Joined, Place};
use super::words::{Element, Form};
use super::{Function, Head, Names, Node, Op, effective_join, one_of_each};
use crate::dialect::Dialect;
use crate::operations::{self, Sense};
use crate::source::Span;
use crate::tree::{Expr, OrderKey, Query, Rows, Select, Source, SourceKind};

impl Names<'_> {
    /// ORDER BY.
    pub(crate) fn order(&self, order: &[OrderKey], span: Span) -> Node {
        self.order_over(&[], order, span)
    }

    /// ORDER BY of a query. Behind a set operation a key may be NULL in the rows of any side.
    pub(crate) fn order_of_rows(&self, query: &Query, span: Span) -> Node {
        let sides = match &query.rows {
            Rows::Set { .. } => query.rows.sides(),
            _ => Vec::new(),
        };
        self.order_over(&sides, &query.order, span)
    }

    fn order_over(&self, sides: &[Vec<&Expr>], order: &[OrderKey], span: Span) -> Node {
        let mut keys = Vec::new();
        let mut placed = None;
        for (at, key) in order.iter().enumerate() {
            if let Some(first) = self.null_place(key, order.get(at + 1)) {
                placed = Some(first);
                continue;
            }
            let shown = sides.first().and_then(|side| side.iter().position(|expr| expr.is_copy_of(&key.expr)));
            // Of what has no type nothing is known, and nothing is said.
            let is_open = |expr: &Expr| expr.ty.is_some() && !self.required(expr);
            let is_null = |side: &Vec<&Expr>| shown.and_then(|at| side.get(at)).is_some_and(|expr| is_open(expr));
            let nullable = is_open(&key.expr) || sides.iter().any(is_null);
            keys.push(match placed.take() {
                Some(first) => self.order_key(&OrderKey { nulls_first: Some(first), ..key.clone() }, nullable),
                None => self.order_key(key, nullable),
            });
        }
        Node::list(Form::Order, keys, span)
    }

    /// One key of ORDER BY, with the place that NULLs really take where there can be some.
    fn order_key(&self, key: &OrderKey, nullable: bool) -> Node {
        // NULL is the smallest value to SQLite and the largest to Postgres.
        let first = key.nulls_first.unwrap_or(key.desc == (self.statement.dialect == Dialect::Pg));
        let nulls = nullable.then_some(if first { Place::First } else { Place::Last });
        let mut value = self.expr(&key.expr);
        if let Head::Element { what: what @ Element::Ordinality, .. } = &mut value.head {
            // Places counted from 1 and from 0 order alike.
            *what = Element::Key;
        }
        Node::list(Head::Key { desc: key.desc, nulls }, vec![value], key.span)
    }

    /// A nested query as one node.
    pub(crate) fn query(&self, query: &Query) -> Node {
        let mut kids = vec![self.rows(&query.rows)];
        for (name, cte) in &query.ctes {
            kids.push(Node::list(Head::Cte(name.clone()), vec![self.query(cte)], cte.span));
        }
        if !query.order.is_empty() {
            kids.push(self.order_of_rows(query, query.span));
        }
        if let Some(limit) = self.limit(query) {
            let span = limit.span;
            kids.push(Node::list(Form::Limit, vec![limit], span));
        }
        if let Some(offset) = super::offset(query) {
            kids.push(Node::list(Form::Offset, vec![self.expr(offset)], offset.span));
        }
        for lock in query.locks.iter().filter(|lock| !self.is_held_anyway(lock)) {
            kids.push(Node::leaf(Head::Clause(format!("for {} {}", lock.strength, lock.wait)), lock.span));
        }
        if let [only] = kids.as_slice() {
            return only.clone();
        }
        Node::list(Form::Query, kids, query.span)
    }

    fn rows(&self, rows: &Rows) -> Node {
        match rows {
            Rows::Select(select) => self.select(select),
            Rows::Values(rows, span) => {
                let rows = rows.iter().map(|row| Node::list(Form::Row, self.all(row), *span));
                Node::list(Form::Values, rows.collect(), *span)
            }
            Rows::Set { op, all, left, right, span } => {
                let branch = |rows: &Rows| if *all { self.rows(rows) } else { one_of_each::of_branch(self.rows(rows)) };
                Node::list(Head::Set { op, all: *all }, vec![branch(left), branch(right)], *span)
            }
            Rows::Query(query) => self.query(query),
        }
    }

    fn select(&self, select: &Select) -> Node {
        let columns = select.columns.iter().map(|column| self.expr(&column.expr)).collect();
        let mut kids = vec![Node::list(Form::Columns, columns, select.span)];
        let inner = self.behind(select);
        let filters: Vec<&Expr> = inner.iter().copied().chain([select]).filter_map(|s| s.filter.as_ref()).collect();
        let sources = inner.map_or(&select.from, |inner| &inner.from);
        let from = sources.iter().map(|source| self.source(source, filters.first().copied())).collect();
        kids.push(Node::set(Form::From, from, select.span));
        match filters.as_slice() {
            [] => {}
            [filter] => kids.push(Node::list(Form::Where, vec![asked_for_truth(self.expr(filter))], filter.span)),
            all => {
                let both = Node::set(Op::And, all.iter().map(|filter| self.expr(filter)).collect(), select.span);
                kids.push(Node::list(Form::Where, vec![asked_for_truth(both)], select.span));
            }
        }
        if !select.group.is_empty() {
            kids.push(Node::set(Form::Group, self.all(&select.group), select.span));
        }
        if let Some(having) = &select.having {
            kids.push(Node::list(Form::Having, vec![asked_for_truth(self.expr(having))], having.span));
        }
        if let Some((keys, span)) = &select.distinct {
            kids.push(Node::list(Form::Distinct, self.all(keys), *span));
        }
        Node::list(Form::Select, kids, select.span)
    }

    /// A source with how it joins, where such a condition follows.
    pub(crate) fn source(&self, source: &Source, filter: Option<&Expr>) -> Node {
        let mut kids = match &source.kind {
            SourceKind::Derived(query) => vec![self.query(query)],
            SourceKind::Function { args, .. } => match self.array_member(args) {
                Some((member, _)) => vec![member],
                None => self.all(args),
            },
            _ => Vec::new(),
        };
        let join = effective_join(source, filter);
        if let Some(on) = source.join.as_ref().and_then(|join| join.on.as_ref()) {
            kids.push(Node::list(Form::On, vec![asked_for_truth(self.expr(on))], on.span));
        }
        let function = match &source.kind {
            SourceKind::Function { name, .. } => Some(Function::from(name.as_str())),
            _ => None,
        };
        let joined = Joined { join, relation: self.relation(source.id), function };
        let mut node = Node::list(Head::Source(Box::new(joined)), kids, source.span);
        if let SourceKind::Function { name, args } = &source.kind
            && let unknown @ Sense::Unknown(_) = operations::sense_of_source(self.dialect(), name, args)
            && !self.pair.takes_unknown
        {
            node.sense = Some(Box::new(unknown));
        }
        node
    }
}
