//! The steps that a statement of Postgres takes where its tables are spread over nodes.
//!
//! A shard's node runs no INSERT of a CTE, and none of rows that come from elsewhere. So what a statement reads and changes
//! is one task, which also gives the rows that are to be inserted, and each of these rows is an INSERT of its own. What
//! looks at the rows of an INSERT is a task behind it, to which those rows are handed as values.

use std::collections::BTreeSet;

use crate::infer::PageOf;
use crate::joined::{is_optional, plain};
use crate::page::Cardinality;
use crate::resolve::is_aggregate_call;
use crate::source::{Sources, Span};
use crate::tree::{
    Body, ConflictAction, Expr, ExprKind, Insert, Join, JoinKind, OutputColumn, Part, Query, Rows, Select, Source,
    SourceId, SourceKind, Statement,
};
use crate::types::Base;

/// The steps of a statement, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Steps {
    pub(crate) steps: Vec<Step>,
    pub(crate) gives: Gives,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Task(Task),
    Insert(Inserting),
}

/// What one shard reads and changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    /// What stands in it as it is, by the places among the statement's parts.
    pub(crate) parts: Vec<usize>,
    /// The parts of earlier steps whose rows it reads.
    pub(crate) takes: Vec<usize>,
    /// The rows that it gives.
    pub(crate) outputs: Vec<Output>,
}

/// Rows that a task gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    /// Whose they are; of an INSERT, those that are to be inserted.
    pub(crate) part: usize,
    /// Of an INSERT, the places of the values that are not known without the task.
    pub(crate) values: Vec<usize>,
}

/// An INSERT of what is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inserting {
    pub(crate) part: usize,
    /// The step whose rows it inserts, each by itself; none where the statement has its values.
    pub(crate) of: Option<usize>,
}

/// What the statement gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Gives {
    Nothing,
    /// How many rows a part has written.
    Count(usize),
    /// Every row of one part with every row of the others, as in [`crate::joined::Joined`].
    Rows {
        sources: Vec<(usize, bool)>,
        columns: Vec<(usize, usize)>,
    },
}

/// Why a statement takes no steps, and where that stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) span: Span,
    pub(crate) why: &'static str,
}

/// The name under which the rows of the last SELECT stand in a task.
pub(crate) const LAST: &str = "diglot_last";

/// The steps of a statement.
pub(crate) fn steps(sources: &Sources, page: &PageOf<'_>) -> Result<Steps, Whole> {
    let (raw, tree) = (page.raw, page.tree);
    let no = |span: Span, why: &'static str| Err(Whole { span, why });
    if raw.parts.len() != 1 {
        return no(raw.name_span, "it is several statements");
    }
    if let Some(rows) = raw.rows() {
        return no(rows.span, "it takes a list of rows");
    }
    if let Some(part) = tree.parts.iter().find(|part| part.recursive) {
        return no(part.span, "it is recursive");
    }
    let Some(main) = tree.parts.len().checked_sub(1) else { return no(raw.name_span, "it has no text") };
    let reader = Reader { sources, page, main, joined: joined(tree, main) };
    reader.steps()
}

/// The rows of the last SELECT, if it does no more than to join parts.
fn joined(tree: &Statement, main: usize) -> Option<Gives> {
    let select = plain(&tree.parts[main])?;
    let part = |source: &Source| {
        let name = source.cte()?;
        tree.parts.iter().position(|part| part.name.as_deref() == Some(name))
    };
    let from = |source: &Source| Some((part(source)?, is_optional(source.join.as_ref())?));
    let sources = select.from.iter().map(from).collect::<Option<Vec<_>>>().filter(|sources| !sources.is_empty())?;
    let column = |output: &OutputColumn| {
        let ExprKind::Column { source: id, column } = &output.expr.kind else { return None };
        let at = select.from.iter().position(|source| source.id == *id)?;
        Some((at, select.from[at].columns.iter().position(|(name, _)| name == column)?))
    };
    let columns = select.columns.iter().map(column).collect::<Option<_>>()?;
    Some(Gives::Rows { sources, columns })
}

struct Reader<'a> {
    sources: &'a Sources,
    page: &'a PageOf<'a>,
    /// The place of the statement itself among its parts.
    main: usize,
    /// What it gives, where that is no more than a join.
    joined: Option<Gives>,
}

impl<'a> Reader<'a> {
    fn parts(&self) -> &'a [Part] {
        &self.page.tree.parts
    }

    /// Whether a part is in no task, because its rows are joined where they arrive.
    fn is_outside(&self, part: usize) -> bool {
        part == self.main && self.joined.is_some()
    }

    /// The parts whose rows one reads.
    fn reads(&self, part: usize) -> BTreeSet<usize> {
        let named = |name: &str| self.parts()[..part].iter().rposition(|other| other.name.as_deref() == Some(name));
        self.read_sources(part).into_iter().filter_map(Source::cte).filter_map(named).collect()
    }

    /// What a task reads for a part: for an INSERT, its rows.
    fn read_sources(&self, part: usize) -> Vec<&'a Source> {
        match &self.parts()[part].body {
            Body::Insert(insert) => insert.rows.sources(),
            Body::Query(_) | Body::Update(_) | Body::Delete(_) => self.parts()[part].sources(),
        }
    }

    fn insert(&self, part: usize) -> Option<&'a Insert> {
        match &self.parts()[part].body {
            Body::Insert(insert) => Some(insert),
            Body::Query(_) | Body::Update(_) | Body::Delete(_) => None,
        }
    }

    /// How many rounds of INSERTs stand before each part.
    fn rounds(&self) -> Vec<usize> {
        let mut rounds: Vec<usize> = Vec::with_capacity(self.parts().len());
        for part in 0..self.parts().len() {
            let behind = |other: usize| rounds[other] + usize::from(self.insert(other).is_some());
            let round = self.reads(part).into_iter().map(behind).max().unwrap_or(0);
            rounds.push(round);
        }
        rounds
    }

    fn steps(&self) -> Result<Steps, Whole> {
        let rounds = self.rounds();
        let inside: Vec<usize> = (0..self.parts().len()).filter(|part| !self.is_outside(*part)).collect();
        inside.iter().filter_map(|part| self.insert(*part)).try_for_each(|insert| self.can_be_alone(insert))?;
        self.writes_once(&inside)?;
        self.reads_before_it_writes(&inside, &rounds)?;
        let gives = self.gives()?;
        let mut wanted: BTreeSet<usize> = match &gives {
            Gives::Nothing => BTreeSet::new(),
            Gives::Count(part) => BTreeSet::from([*part]),
            Gives::Rows { sources, .. } => sources.iter().map(|(part, _)| *part).collect(),
        };
        let handed = |part: usize| {
            let is_earlier = |other: &usize| rounds[*other] < rounds[part] || self.insert(*other).is_some();
            self.reads(part).into_iter().filter(is_earlier).collect::<Vec<usize>>()
        };
        wanted.extend(inside.iter().flat_map(|part| handed(*part)));
        let mut steps = Vec::new();
        for round in 0..=rounds.iter().copied().max().unwrap_or(0) {
            let own: Vec<usize> = inside.iter().copied().filter(|part| rounds[*part] == round).collect();
            let (inserts, parts): (Vec<usize>, Vec<usize>) = own.iter().partition(|part| self.insert(**part).is_some());
            let mut outputs = Vec::new();
            for part in &inserts {
                if let Some(select) = self.insert(*part).and_then(selected) {
                    outputs.push(Output { part: *part, values: self.values(select)? });
                }
            }
            let asking: Vec<usize> = outputs.iter().map(|output| output.part).chain(parts.iter().copied()).collect();
            let takes: BTreeSet<usize> = asking.iter().flat_map(|part| handed(*part)).collect();
            if let Some(part) = takes.iter().find(|part| !self.can_be_handed(**part)) {
                let (span, why) = (self.parts()[*part].span, "its rows have a type that no array has here");
                return Err(Whole { span, why });
            }
            let read = parts.iter().copied().filter(|part| wanted.contains(part));
            outputs.extend(read.map(|part| Output { part, values: Vec::new() }));
            self.keeps_order(&outputs)?;
            let task = (!asking.is_empty()).then(|| {
                steps.push(Step::Task(Task { parts, takes: takes.into_iter().collect(), outputs }));
                steps.len() - 1
            });
            for part in inserts {
                let is_known = self.insert(part).and_then(selected).is_none();
                steps.push(Step::Insert(Inserting { part, of: task.filter(|_| !is_known) }));
            }
        }
        Ok(Steps { steps, gives })
    }

    /// What it gives.
    fn gives(&self) -> Result<Gives, Whole> {
        let (main, tree) = (&self.parts()[self.main], self.page.tree);
        match tree.cardinality {
            Cardinality::Exec => Ok(Gives::Nothing),
            Cardinality::Rows if main.target().is_some() => Ok(Gives::Count(self.main)),
            Cardinality::Rows => Err(Whole { span: main.span, why: "it counts the rows of a SELECT" }),
            Cardinality::Stream => Err(Whole { span: self.page.raw.name_span, why: "it is a stream" }),
            Cardinality::One | Cardinality::Opt | Cardinality::Many => Ok(self.joined.clone().unwrap_or_else(|| {
                let columns = (0..main.columns().len()).map(|column| (0, column)).collect();
                Gives::Rows { sources: vec![(self.main, false)], columns }
            })),
        }
    }

    /// Whether an INSERT can be sent with values alone.
    fn can_be_alone(&self, insert: &Insert) -> Result<(), Whole> {
        let conflict = insert.conflict.as_ref();
        let updates = conflict.map(|conflict| match &conflict.action {
            ConflictAction::Update { set, filter, .. } => (set.as_slice(), filter.as_ref()),
            ConflictAction::Nothing => (&[][..], None),
        });
        let (set, filter) = updates.unwrap_or((&[], None));
        let of_target = conflict.and_then(|conflict| conflict.target_filter.as_ref());
        let values = match &insert.rows.rows {
            Rows::Values(rows, _) => rows.as_slice(),
            Rows::Select(_) => &[],
            Rows::Set { span, .. } => return Err(Whole { span: *span, why: "its rows come from a set operation" }),
            Rows::Query(query) => return Err(Whole { span: query.span, why: "its rows stand in brackets" }),
        };
        let own = set.iter().map(|set| &set.value).chain(filter).chain(of_target);
        let own = own.chain(values.iter().flatten()).chain(insert.returning.iter().map(|column| &column.expr));
        match own.flat_map(Expr::exprs).find(|expr| expr.subquery().is_some()) {
            Some(query) => Err(Whole { span: query.span, why: "an INSERT of values asks nothing" }),
            None => Ok(()),
        }
    }

    /// The places of the values that a task has to give.
    fn values(&self, select: &Select) -> Result<Vec<usize>, Whole> {
        let star = select.columns.windows(2).find(|pair| pair[0].span == pair[1].span);
        if let Some(pair) = star {
            return Err(Whole { span: pair[0].span, why: "a star has no values of its own" });
        }
        let carried = |(_, column): &(usize, &OutputColumn)| is_of_rows(&column.expr);
        Ok(select.columns.iter().enumerate().filter(carried).map(|(at, _)| at).collect())
    }

    /// Which of two parts writes a row first is not said within one statement.
    fn writes_once(&self, inside: &[usize]) -> Result<(), Whole> {
        let table = |part: usize| self.parts()[part].target().and_then(Source::table);
        for part in inside.iter().copied().filter(|part| self.insert(*part).is_some()) {
            let again = inside.iter().find(|other| **other != part && table(**other) == table(part));
            if let (Some(_), Some(target)) = (again, self.parts()[part].target()) {
                return Err(Whole { span: target.span, why: "another part writes this table too" });
            }
        }
        Ok(())
    }

    /// All parts of a statement see the tables as they were at its start.
    fn reads_before_it_writes(&self, inside: &[usize], rounds: &[usize]) -> Result<(), Whole> {
        for part in inside.iter().copied().filter(|part| rounds[*part] > 0) {
            let earlier = inside.iter().filter(|other| rounds[**other] < rounds[part]);
            let written: BTreeSet<&str> =
                earlier.filter_map(|other| self.parts()[*other].target().and_then(Source::table)).collect();
            let is_view = |name: &str| self.page.schema.tables.get(name).is_none_or(|table| table.view);
            let read = self.read_sources(part);
            let stale = read.into_iter().find(|source| {
                source.table().is_some_and(|name| written.contains(name) || is_view(name) && !written.is_empty())
            });
            if let Some(source) = stale {
                return Err(Whole { span: source.span, why: "an earlier step has written it" });
            }
        }
        Ok(())
    }

    /// Rows beside others come in no order.
    fn keeps_order(&self, outputs: &[Output]) -> Result<(), Whole> {
        for output in outputs {
            let query = match &self.parts()[output.part].body {
                Body::Insert(insert) => &insert.rows,
                Body::Query(query) => query,
                Body::Update(_) | Body::Delete(_) => continue,
            };
            let Some(key) = query.order.first() else { continue };
            if outputs.len() > 1 {
                return Err(Whole { span: key.span, why: "beside other rows these come in no order" });
            }
            let is_number = |span: Span| self.sources.text(span).trim().bytes().all(|byte| byte.is_ascii_digit());
            if self.insert(output.part).is_some()
                && let Some(key) = query.order.iter().find(|key| is_number(key.expr.span))
            {
                return Err(Whole { span: key.span, why: "a number says which value it is" });
            }
        }
        Ok(())
    }

    /// Whether the values of a part's rows have arrays.
    fn can_be_handed(&self, part: usize) -> bool {
        let columns = self.parts()[part].columns();
        !columns.is_empty() && columns.iter().all(|(_, ty)| ty.as_ref().is_some_and(|ty| has_array(&ty.base)))
    }
}

/// Whether Postgres has arrays of such values, whatever the project made.
fn has_array(base: &Base) -> bool {
    match base {
        Base::Interval | Base::Enum(_) | Base::Stored(_) => false,
        base => !base.is_list(),
    }
}

/// The SELECT of an INSERT.
pub(crate) fn selected(insert: &Insert) -> Option<&Select> {
    match &insert.rows.rows {
        Rows::Select(select) => Some(select),
        Rows::Values(..) | Rows::Set { .. } | Rows::Query(_) => None,
    }
}

/// Whether a value has to do with the rows that a SELECT reads, and not with parameters alone.
fn is_of_rows(expr: &Expr) -> bool {
    expr.exprs().into_iter().any(|expr| match &expr.kind {
        ExprKind::Column { .. } | ExprKind::Opaque(_) => true,
        ExprKind::Call { over: Some(_), .. } => true,
        _ => expr.subquery().is_some() || is_aggregate_call(expr),
    })
}

impl Steps {
    /// The step that gives a part's rows, and which of its outputs they are: of an INSERT, what it returned.
    pub(crate) fn rows_of(&self, part: usize) -> Option<(usize, Option<usize>)> {
        self.steps.iter().enumerate().find_map(|(at, step)| match step {
            Step::Task(task) if task.parts.contains(&part) => {
                Some((at, Some(task.outputs.iter().position(|output| output.part == part)?)))
            }
            Step::Insert(insert) if insert.part == part => Some((at, None)),
            Step::Task(_) | Step::Insert(_) => None,
        })
    }

    /// The rows that an INSERT is done for: the step, and which of its outputs.
    pub(crate) fn inserted(&self, insert: &Inserting) -> Option<(usize, usize)> {
        let at = insert.of?;
        let Step::Task(task) = self.steps.get(at)? else { return None };
        Some((at, task.outputs.iter().position(|output| output.part == insert.part)?))
    }

    /// Each step as a statement of its own, for whoever looks at what an engine makes of it.
    pub(crate) fn trees(&self, tree: &Statement) -> Vec<Statement> {
        self.steps
            .iter()
            .map(|step| {
                let parts = match step {
                    Step::Task(task) => task_parts(tree, task),
                    Step::Insert(insert) => vec![insert_part(tree, self, insert)],
                };
                let result = parts.len().checked_sub(1);
                Statement { parts, result, ..tree.clone() }
            })
            .collect()
    }
}

fn task_parts(tree: &Statement, task: &Task) -> Vec<Part> {
    let named = |at: usize, body: Body| {
        let part = &tree.parts[at];
        Part { name: Some(part.name.clone().unwrap_or_else(|| LAST.to_owned())), body, ..part.clone() }
    };
    let mut parts: Vec<Part> = Vec::new();
    let inserts = task.outputs.iter().filter(|output| !task.parts.contains(&output.part));
    parts.extend(task.parts.iter().map(|at| named(*at, tree.parts[*at].body.clone())));
    for output in inserts {
        let Body::Insert(insert) = &tree.parts[output.part].body else { continue };
        let mut rows = insert.rows.clone();
        if let Rows::Select(select) = &mut rows.rows {
            select.columns = output.values.iter().filter_map(|at| select.columns.get(*at).cloned()).collect();
        }
        parts.push(named(output.part, Body::Query(rows)));
    }
    let next = tree.sources().iter().map(|source| source.id.0).max().map_or(0, |id| id + 1);
    let from = task.outputs.iter().zip(next..).map(|(output, id)| {
        let name = tree.parts[output.part].name.clone().unwrap_or_else(|| LAST.to_owned());
        let span = tree.parts[output.part].span;
        let join = Join { kind: JoinKind::Left, on: None, lateral: false, span };
        let (kind, columns) = (SourceKind::Cte(name.clone()), Vec::new());
        Source { id: SourceId(id), alias: name, kind, join: Some(join), columns, span }
    });
    let (from, span) = (from.collect(), tree.span);
    let last =
        Select { distinct: None, columns: Vec::new(), from, filter: None, group: Vec::new(), having: None, span };
    let body = Body::Query(Query::bare(Rows::Select(Box::new(last)), span));
    parts.push(Part { name: None, statement: 0, materialized: None, recursive: false, body, span });
    parts
}

fn insert_part(tree: &Statement, steps: &Steps, insert: &Inserting) -> Part {
    let part = Part { name: None, ..tree.parts[insert.part].clone() };
    let Body::Insert(whole) = &part.body else { return part };
    let (Some(select), Some((step, output))) = (selected(whole), steps.inserted(insert)) else { return part };
    let Some(Step::Task(task)) = steps.steps.get(step) else { return part };
    let values = &task.outputs[output].values;
    let row = select.columns.iter().enumerate().map(|(at, column)| match values.contains(&at) {
        true => Expr { kind: ExprKind::Param(format!("{}.{at}", insert.part)), ..column.expr.clone() },
        false => column.expr.clone(),
    });
    let rows = Rows::Values(vec![row.collect()], whole.rows.span);
    let rows = Query::bare(rows, whole.rows.span);
    Part { body: Body::Insert(Insert { rows, ..whole.clone() }), ..part }
}
