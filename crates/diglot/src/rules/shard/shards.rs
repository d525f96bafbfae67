//! On which shards a statement is, where an engine spreads the tables by a key.
//!
//! A source is on one shard when its key equals one value. Equalities pass a value on as far as Postgres's planner takes
//! a query into the one around it: into a plain subquery of FROM, a CTE that one place reads, EXISTS and IN among the
//! conditions that must hold; not into an expression, nor behind what an outer join may leave out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::config::Placement;
use crate::dialect::Dialect;
use crate::resolve::is_aggregate_call;
use crate::rules::Context;
use crate::rules::look::{bare, folds};
use crate::rules::moving::is_volatile;
use crate::schema::Table;
use crate::tree::{Body, Expr, ExprKind, Insert, JoinKind, Part, Query, Rows, Select, Source, SourceId, SourceKind};

/// What a key equals.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::rules) enum Pin {
    /// A parameter.
    Param(String),
    /// What is written.
    Literal(String),
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Param(name) => write!(f, ":{name}"),
            Self::Literal(text) => f.write_str(text),
        }
    }
}

/// Something that may equal something else.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Term {
    Column(SourceId, String),
    Pin(Pin),
}

/// A page on the engine that spreads tables.
pub(in crate::rules) struct Shards<'a, 'c> {
    context: &'c Context<'a>,
    key: &'c str,
    pins: BTreeMap<SourceId, Pin>,
}

impl<'a, 'c> Shards<'a, 'c> {
    /// Reads a page; none where no engine spreads its tables.
    pub(in crate::rules) fn of(context: &'c Context<'a>) -> Option<Self> {
        context.config.distributed?;
        if context.page.tree.dialect != Dialect::Pg {
            return None;
        }
        let key = context.config.shard_key.as_str();
        let mut reader = Reader { context, passes: Vec::new() };
        for part in &context.page.tree.parts {
            reader.part(part);
        }
        let pins = reader.pins(key);
        Some(Self { context, key, pins })
    }

    /// Where the rows of a source's table are; a view's are where its tables are.
    pub(in crate::rules) fn placement(&self, source: &Source) -> Option<Placement> {
        self.placement_of(self.context.page.schema.tables.get(source.table()?)?)
    }

    fn placement_of(&self, table: &Table) -> Option<Placement> {
        let has_key = table.column(self.key).is_some();
        self.context.config.placement_of(&table.name, has_key).filter(|_| !table.view)
    }

    /// Whether the rows of a table are spread.
    pub(in crate::rules) fn spreads_table(&self, table: &Table) -> bool {
        self.placement_of(table) == Some(Placement::Distributed)
    }

    /// Whether the rows of a source are spread.
    pub(in crate::rules) fn is_spread(&self, source: &Source) -> bool {
        self.placement(source) == Some(Placement::Distributed)
    }

    /// What the key of a source equals, if that is one value.
    pub(in crate::rules) fn pin(&self, source: &Source) -> Option<&Pin> {
        self.pins.get(&source.id)
    }

    /// The sources of one SQL statement of the page.
    pub(in crate::rules) fn sources(&self, statement: usize) -> Vec<&'a Source> {
        let parts = self.context.page.tree.parts.iter().filter(move |part| part.statement == statement);
        parts.flat_map(Part::sources).filter(|source| source.table().is_some()).collect()
    }

    /// The numbers of the page's SQL statements.
    pub(in crate::rules) fn statements(&self) -> BTreeSet<usize> {
        self.context.page.tree.parts.iter().map(|part| part.statement).collect()
    }

    /// Whether one SQL statement of the page has to do with a table that is spread.
    pub(in crate::rules) fn spreads(&self, statement: usize) -> bool {
        self.sources(statement).into_iter().any(|source| self.is_spread(source))
    }

    /// The column by which the tables are spread.
    pub(in crate::rules) fn key(&self) -> &'c str {
        self.key
    }

    /// The values of the key that an INSERT gives, one for each row; none where it leaves the key out.
    pub(in crate::rules) fn inserted_key<'i>(&self, insert: &'i Insert) -> Option<Vec<&'i Expr>> {
        let at = insert.columns.iter().position(|(column, _)| column == self.key)?;
        match &insert.rows.rows {
            Rows::Values(rows, _) => Some(rows.iter().filter_map(|row| row.get(at)).collect()),
            Rows::Select(select) => Some(select.columns.get(at).map(|column| &column.expr).into_iter().collect()),
            Rows::Set { .. } | Rows::Query(_) => Some(Vec::new()),
        }
    }
}

/// What a value is, as a pin.
pub(in crate::rules) fn pin_of(expr: &Expr) -> Option<Pin> {
    match &bare(expr).kind {
        ExprKind::Param(name) => Some(Pin::Param(name.clone())),
        ExprKind::Number(text) | ExprKind::Text(text) => Some(Pin::Literal(text.clone())),
        _ => None,
    }
}

fn term(expr: &Expr) -> Option<Term> {
    match &bare(expr).kind {
        ExprKind::Column { source, column } => Some(Term::Column(*source, column.clone())),
        _ => pin_of(expr).map(Term::Pin),
    }
}

/// Collects what passes a value on to what.
struct Reader<'a, 'c> {
    context: &'c Context<'a>,
    /// From, to.
    passes: Vec<(Term, Term)>,
}

/// The sources around a query that the planner takes into the one around it.
#[derive(Clone, Copy)]
struct Reach<'s> {
    /// Those that may hand a value in.
    from: &'s BTreeSet<SourceId>,
    /// Those that may be handed one.
    to: &'s BTreeSet<SourceId>,
}

/// No source: a query that is planned by itself.
static NONE: BTreeSet<SourceId> = BTreeSet::new();
const APART: Reach<'static> = Reach { from: &NONE, to: &NONE };

impl<'a> Reader<'a, '_> {
    /// The values of the keys, as far as they are passed on.
    fn pins(&self, key: &str) -> BTreeMap<SourceId, Pin> {
        let mut known: BTreeMap<&Term, Pin> = BTreeMap::new();
        loop {
            let before = known.len();
            for (from, to) in &self.passes {
                let value = match from {
                    Term::Pin(pin) => Some(pin.clone()),
                    Term::Column(..) => known.get(from).cloned(),
                };
                if let Some(value) = value {
                    known.entry(to).or_insert(value);
                }
            }
            if known.len() == before {
                break;
            }
        }
        let keys = known.into_iter().filter_map(|(term, pin)| match term {
            Term::Column(source, column) if column == key => Some((*source, pin)),
            _ => None,
        });
        keys.collect()
    }

    fn part(&mut self, part: &'a Part) {
        match &part.body {
            // A CTE that is taken into its reader is read there.
            Body::Query(query) if part.name.as_deref().is_none_or(|name| self.inlined(name).is_none()) => {
                self.query(query, APART);
            }
            Body::Query(_) => {}
            Body::Insert(insert) => {
                self.query(&insert.rows, APART);
                self.inserted(insert);
            }
            Body::Update(update) => {
                let mut from: Vec<&Source> = vec![&update.target];
                from.extend(&update.from);
                self.level(&from, update.filter.as_ref(), APART);
                let values = update.set.iter().map(|set| &set.value);
                values.chain(update.returning.iter().map(|column| &column.expr)).for_each(|expr| self.apart(expr));
            }
            Body::Delete(delete) => {
                let mut from: Vec<&Source> = vec![&delete.target];
                from.extend(&delete.using);
                self.level(&from, delete.filter.as_ref(), APART);
                delete.returning.iter().for_each(|column| self.apart(&column.expr));
            }
        }
    }

    /// Rows that all give one value to a column pin the target.
    fn inserted(&mut self, insert: &'a Insert) {
        for (at, (column, _)) in insert.columns.iter().enumerate() {
            let values: Vec<Option<Pin>> = match &insert.rows.rows {
                Rows::Values(rows, _) => rows.iter().map(|row| row.get(at).and_then(pin_of)).collect(),
                Rows::Select(select) => vec![select.columns.get(at).and_then(|column| pin_of(&column.expr))],
                Rows::Set { .. } | Rows::Query(_) => continue,
            };
            if let [Some(first), rest @ ..] = values.as_slice()
                && rest.iter().all(|other| other.as_ref() == Some(first))
            {
                self.passes.push((Term::Pin(first.clone()), Term::Column(insert.target.id, column.clone())));
            }
        }
    }

    /// A query that stands by itself, or that sees the sources around it.
    fn query(&mut self, query: &'a Query, reach: Reach<'_>) {
        for (_, inner) in &query.ctes {
            self.query(inner, APART);
        }
        self.rows(&query.rows, reach);
        query.order.iter().for_each(|key| self.apart(&key.expr));
    }

    fn rows(&mut self, rows: &'a Rows, reach: Reach<'_>) {
        match rows {
            Rows::Select(select) => {
                let from: Vec<&Source> = select.from.iter().collect();
                self.level(&from, select.filter.as_ref(), reach);
                let outputs = select.columns.iter().map(|column| &column.expr);
                outputs.chain(&select.group).chain(&select.having).for_each(|expr| self.apart(expr));
            }
            Rows::Values(rows, _) => rows.iter().flatten().for_each(|expr| self.apart(expr)),
            Rows::Set { left, right, .. } => {
                self.rows(left, reach);
                self.rows(right, reach);
            }
            Rows::Query(query) => self.query(query, reach),
        }
    }

    /// The sources of one FROM with its conditions.
    fn level(&mut self, sources: &[&'a Source], filter: Option<&'a Expr>, reach: Reach<'_>) {
        let own: BTreeSet<SourceId> = sources.iter().map(|source| source.id).collect();
        let from: BTreeSet<SourceId> = own.union(reach.from).copied().collect();
        let all: BTreeSet<SourceId> = own.union(reach.to).copied().collect();
        let mut before: BTreeSet<SourceId> = BTreeSet::new();
        // A row that WHERE compares with something is there, so the join that could leave it out is none.
        let compared = filter.into_iter().flat_map(Expr::conjuncts).filter(|conjunct| is_strict(conjunct));
        let wanted: BTreeSet<SourceId> = compared.flat_map(own_columns).collect();
        for source in sources {
            // An outer join keeps the rows of one side, whatever its condition says of them.
            let to = match source.join.as_ref().map(|join| join.kind) {
                Some(JoinKind::Left) if !wanted.contains(&source.id) => BTreeSet::from([source.id]),
                Some(JoinKind::Right) if before.is_disjoint(&wanted) => before.clone(),
                Some(JoinKind::Full) => match (before.is_disjoint(&wanted), wanted.contains(&source.id)) {
                    (true, true) => before.clone(),
                    (false, false) => BTreeSet::from([source.id]),
                    (false, true) => all.clone(),
                    (true, false) => BTreeSet::new(),
                },
                Some(_) | None => all.clone(),
            };
            let on = source.join.as_ref().and_then(|join| join.on.as_ref());
            self.conditions(on, Reach { from: &from, to: &to });
            before.insert(source.id);
            self.source(source, Reach { from: &from, to: &to });
        }
        self.conditions(filter, Reach { from: &from, to: &all });
    }

    /// A subquery of FROM, or a CTE that is taken into its reader.
    fn source(&mut self, source: &'a Source, reach: Reach<'_>) {
        let query: &'a Query = match &source.kind {
            SourceKind::Derived(query) => query,
            SourceKind::Cte(name) => match self.inlined(name) {
                Some(query) => query,
                None => return,
            },
            SourceKind::Function { args, .. } => {
                args.iter().for_each(|arg| self.apart(arg));
                return;
            }
            SourceKind::Table(_) | SourceKind::Rows(_) | SourceKind::Excluded => return,
        };
        let merged = is_merged(query);
        self.query(query, if merged { reach } else { APART });
        self.outputs(source.id, query, &query.rows, merged);
    }

    /// What is asked of a subquery's columns is asked inside it; what holds inside holds outside where it is merged.
    fn outputs(&mut self, outside: SourceId, query: &'a Query, rows: &'a Rows, merged: bool) {
        if query.limit.is_some() || query.offset.is_some() {
            return;
        }
        match rows {
            Rows::Select(select) => {
                for column in &select.columns {
                    let Some(inside) = term(&column.expr) else { continue };
                    let here = Term::Column(outside, column.name.clone());
                    if merged {
                        self.passes.push((inside.clone(), here.clone()));
                    }
                    if !select.columns.iter().all(|other| is_parted(&other.expr, &inside)) {
                        continue;
                    }
                    let grouped = select.group.iter().any(|key| term(key).as_ref() == Some(&inside));
                    if grouped || !folds(select) && select.group.is_empty() {
                        self.passes.push((here, inside));
                    }
                }
            }
            Rows::Set { op: "union", left, right, .. } => {
                self.outputs(outside, query, left, false);
                self.outputs(outside, query, right, false);
            }
            Rows::Set { .. } | Rows::Values(..) | Rows::Query(_) => {}
        }
    }

    fn conditions(&mut self, filter: Option<&'a Expr>, reach: Reach<'_>) {
        for conjunct in filter.into_iter().flat_map(Expr::conjuncts) {
            match &conjunct.kind {
                ExprKind::Binary { op, left, right } if op == "=" => self.equal(left, right, reach),
                ExprKind::InList { expr, list, negated: false } if list.len() == 1 => self.equal(expr, &list[0], reach),
                ExprKind::Exists { query, negated } if is_merged_test(query) => {
                    // What does not exist says nothing of what is around it.
                    let to = if *negated { &NONE } else { reach.to };
                    self.query(query, Reach { to, ..reach });
                    continue;
                }
                ExprKind::InQuery { expr, query, negated: false } => {
                    self.query(query, APART);
                    self.member(expr, query, reach);
                    self.apart(expr);
                    continue;
                }
                _ => {}
            }
            self.apart(conjunct);
        }
    }

    /// `value IN (SELECT column …)` is a join by that column.
    fn member(&mut self, expr: &'a Expr, query: &'a Query, reach: Reach<'_>) {
        let Rows::Select(select) = &query.rows else { return };
        let keys: Vec<&Expr> = match &expr.kind {
            ExprKind::Tuple(items) => items.iter().collect(),
            _ => vec![expr],
        };
        let merged = is_merged(query);
        let open = query.limit.is_none() && query.offset.is_none() && !folds(select);
        for (key, column) in keys.into_iter().zip(&select.columns) {
            let (Some(outside), Some(inside)) = (term(key), term(&column.expr)) else { continue };
            if open {
                self.passes.push((outside.clone(), inside.clone()));
            }
            let reached = matches!(&outside, Term::Column(source, _) if reach.to.contains(source));
            if merged && reached {
                self.passes.push((inside, outside));
            }
        }
    }

    fn equal(&mut self, left: &Expr, right: &Expr, reach: Reach<'_>) {
        if let (ExprKind::Tuple(left), ExprKind::Tuple(right)) = (&left.kind, &right.kind) {
            left.iter().zip(right).for_each(|(left, right)| self.equal(left, right, reach));
            return;
        }
        let (Some(left), Some(right)) = (term(left), term(right)) else { return };
        for (from, to) in [(&left, &right), (&right, &left)] {
            let hands = matches!(from, Term::Pin(_)) || matches!(from, Term::Column(id, _) if reach.from.contains(id));
            if hands && matches!(to, Term::Column(id, _) if reach.to.contains(id)) {
                self.passes.push((from.clone(), to.clone()));
            }
        }
    }

    /// The queries inside an expression are planned by themselves.
    fn apart(&mut self, expr: &'a Expr) {
        let queries = expr.exprs().into_iter().filter_map(Expr::subquery);
        queries.for_each(|query| self.query(query, APART));
    }

    /// The query of a CTE that is taken into the one place that reads it.
    fn inlined(&self, name: &str) -> Option<&'a Query> {
        let tree = self.context.page.tree;
        let part = tree.parts.iter().find(|part| part.name.as_deref() == Some(name))?;
        let Body::Query(query) = &part.body else { return None };
        let readers = tree.sources().into_iter().filter(|source| source.cte() == Some(name)).count();
        let wanted = part.materialized.map_or(readers == 1, |kept| !kept);
        (wanted
            && !part.recursive
            && query.locks.is_empty()
            && !query.exprs().into_iter().any(|expr| is_volatile(self.context, expr)))
        .then_some(query)
    }
}

/// Whether each window of an expression is about rows that agree in a column.
fn is_parted(expr: &Expr, column: &Term) -> bool {
    let mut windows = expr.exprs().into_iter().filter_map(|expr| match &expr.kind {
        ExprKind::Call { over: Some(window), .. } => Some(window),
        _ => None,
    });
    windows.all(|window| window.partition.iter().any(|key| term(key).as_ref() == Some(column)))
}

/// Whether a condition is not true of a NULL.
fn is_strict(conjunct: &Expr) -> bool {
    matches!(&conjunct.kind, ExprKind::Binary { op, .. } if ["=", "<>", "<", "<=", ">", ">="].contains(&op.as_str()))
}

/// The sources of the columns that a comparison has on either side as they are.
fn own_columns(conjunct: &Expr) -> Vec<SourceId> {
    let ExprKind::Binary { left, right, .. } = &conjunct.kind else { return Vec::new() };
    let side = |side: &Expr| match term(side) {
        Some(Term::Column(source, _)) => Some(source),
        Some(Term::Pin(_)) | None => None,
    };
    [left, right].into_iter().filter_map(|expr| side(expr)).collect()
}

/// Whether the planner takes a subquery into the query around it.
fn is_merged(query: &Query) -> bool {
    query.order.is_empty() && query.limit.is_none() && is_merged_test(query)
}

/// Whether the planner makes a join of EXISTS, which looks for one row whatever a number in LIMIT says.
fn is_merged_test(query: &Query) -> bool {
    let Rows::Select(select) = &query.rows else { return false };
    let is_cut = query.limit.as_ref().is_some_and(|limit| !matches!(limit.kind, ExprKind::Number(_)));
    is_plain(select) && !is_cut && query.offset.is_none() && query.locks.is_empty() && query.ctes.is_empty()
}

fn is_plain(select: &Select) -> bool {
    let windowed = |expr: &Expr| matches!(&expr.kind, ExprKind::Call { over: Some(_), .. });
    let outputs = || select.columns.iter().flat_map(|column| column.expr.exprs());
    select.distinct.is_none()
        && select.group.is_empty()
        && select.having.is_none()
        && !select.from.is_empty()
        && !outputs().any(|expr| is_aggregate_call(expr) || windowed(expr))
}
