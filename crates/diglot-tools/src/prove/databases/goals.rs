//! What has to hold so that a page's conditions are decided by one place alone: its conditions as terms over slots.

use std::collections::{BTreeMap, BTreeSet};

use super::scene::{Scene, Spot};
use super::term::Term;
use crate::prove::uses::steps;
use diglot::infer::origin::query_outputs;
use diglot::tree::{
    Body, ConflictAction, Expr, ExprKind, JoinKind, OutputColumn, Part, Query, Rows, Select, Source, SourceId,
    SourceKind, Statement,
};
use diglot::types::Base;
use diglot::value::Value;

/// What is wanted of rows and arguments.
#[derive(Debug, Clone, Default)]
pub(super) struct Goal {
    /// All of these hold.
    pub(super) terms: Vec<Term>,
    /// Rows that are not there.
    pub(super) absent: BTreeSet<usize>,
}

/// The goals of a page: that everything holds, and for each alternative that it alone does.
pub(super) fn of(scene: &Scene<'_>, tree: &Statement, is_merged: bool) -> Vec<Goal> {
    let page = Page::of(scene, tree, is_merged);
    let mut whole = Goal::default();
    let mut arms: Vec<Vec<Term>> = Vec::new();
    for part in &tree.parts {
        page.part(part, &mut whole, &mut arms);
    }
    let mut goals = vec![whole.clone()];
    for arm in arms {
        let mut goal = whole.clone();
        // What the arm asks for comes first, so that it is what is kept where not all can hold.
        goal.terms.splice(0..0, arm);
        goals.push(goal);
    }
    goals
}

/// How deep an expression is followed.
const DEPTH: usize = 24;

struct Page<'t, 's> {
    scene: &'t Scene<'s>,
    sources: BTreeMap<SourceId, &'t Source>,
    outputs: BTreeMap<&'t str, &'t [OutputColumn]>,
    /// The row that stands for each occurrence of a table.
    rows: BTreeMap<SourceId, usize>,
}

impl<'t, 's> Page<'t, 's> {
    fn of(scene: &'t Scene<'s>, tree: &'t Statement, is_merged: bool) -> Self {
        let mut page = Self { scene, sources: tree.sources_by_id(), outputs: BTreeMap::new(), rows: BTreeMap::new() };
        for part in &tree.parts {
            let columns = match &part.body {
                Body::Query(query) => query_outputs(&query.rows),
                Body::Insert(insert) => &insert.returning,
                Body::Update(update) => &update.returning,
                Body::Delete(delete) => &delete.returning,
            };
            if let Some(name) = &part.name {
                page.outputs.entry(name).or_insert(columns);
            }
            for query in part.queries() {
                for (name, cte) in &query.ctes {
                    page.outputs.entry(name).or_insert_with(|| query_outputs(&cte.rows));
                }
            }
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for source in tree.sources() {
            let Some(name) = source.table() else { continue };
            let number = counts.entry(name).or_default();
            let wanted = if is_merged { 0 } else { *number };
            *number += 1;
            let of_table =
                |seat: &super::scene::Seat| scene.subject.tables[seat.table].name == *name && seat.number == wanted;
            if let Some(seat) = scene.seats.iter().position(of_table) {
                page.rows.insert(source.id, seat);
            }
        }
        page
    }

    fn part(&self, part: &'t Part, whole: &mut Goal, arms: &mut Vec<Vec<Term>>) {
        match &part.body {
            Body::Query(query) => self.query(query, whole, arms),
            Body::Insert(insert) => {
                self.query(&insert.rows, whole, arms);
                if let Some(conflict) = &insert.conflict
                    && let ConflictAction::Update { filter: Some(filter), .. } = &conflict.action
                {
                    self.condition(filter, whole, arms);
                }
            }
            Body::Update(update) => {
                self.joins(&update.from, whole, arms);
                update.filter.iter().for_each(|filter| self.condition(filter, whole, arms));
                update.set.iter().for_each(|assignment| self.cases(&assignment.value, arms));
            }
            Body::Delete(delete) => {
                self.joins(&delete.using, whole, arms);
                delete.filter.iter().for_each(|filter| self.condition(filter, whole, arms));
            }
        }
    }

    fn query(&self, query: &'t Query, whole: &mut Goal, arms: &mut Vec<Vec<Term>>) {
        query.ctes.iter().for_each(|(_, cte)| self.query(cte, whole, arms));
        self.of_rows(&query.rows, whole, arms);
    }

    fn of_rows(&self, rows: &'t Rows, whole: &mut Goal, arms: &mut Vec<Vec<Term>>) {
        match rows {
            Rows::Select(select) => self.select(select, whole, arms),
            Rows::Set { op: "except", left, .. } => self.of_rows(left, whole, arms),
            Rows::Set { left, right, .. } => {
                self.of_rows(left, whole, arms);
                self.of_rows(right, whole, arms);
            }
            Rows::Query(query) => self.query(query, whole, arms),
            Rows::Values(..) => {}
        }
    }

    fn select(&self, select: &'t Select, whole: &mut Goal, arms: &mut Vec<Vec<Term>>) {
        self.joins(&select.from, whole, arms);
        select.filter.iter().for_each(|filter| self.condition(filter, whole, arms));
        for column in &select.columns {
            self.cases(&column.expr, arms);
        }
    }

    fn joins(&self, sources: &'t [Source], whole: &mut Goal, arms: &mut Vec<Vec<Term>>) {
        for source in sources {
            if let Some(on) =
                source.join.as_ref().filter(|join| join.kind != JoinKind::Cross).and_then(|join| join.on.as_ref())
            {
                self.condition(on, whole, arms);
            }
            if let SourceKind::Derived(query) = &source.kind {
                self.query(query, whole, arms);
            }
            // The rows that a view joins have what it shows of them in common.
            for (column, _) in source.table().map_or(&[][..], |_| source.columns.as_slice()) {
                let cells = self.behind(source, column);
                let pairs = cells.windows(2).map(|pair| Term::of("=", pair.iter().cloned()));
                whole.terms.extend(pairs);
            }
        }
    }

    /// Each branch of a CASE is an alternative, and so is each condition of a FILTER.
    fn cases(&self, expr: &'t Expr, arms: &mut Vec<Vec<Term>>) {
        for inner in expr.exprs() {
            match &inner.kind {
                ExprKind::Case { operand, branches, .. } => {
                    let mut before: Vec<Term> = Vec::new();
                    for (when, _) in branches {
                        let when = match operand {
                            Some(operand) => Term::of("=", [self.term(operand, DEPTH), self.term(when, DEPTH)]),
                            None => self.term(when, DEPTH),
                        };
                        arms.push(std::iter::once(when.clone()).chain(before.iter().cloned()).collect());
                        before.push(Term::of("not", [when]));
                    }
                }
                ExprKind::Call { filter: Some(filter), .. } => arms.push(vec![self.term(filter, DEPTH)]),
                _ => {}
            }
        }
    }

    fn condition(&self, condition: &'t Expr, whole: &mut Goal, arms: &mut Vec<Vec<Term>>) {
        for conjunct in condition.conjuncts() {
            match &conjunct.kind {
                ExprKind::Binary { op, .. } if op == "or" => {
                    let mut sides = Vec::new();
                    alternatives(conjunct, &mut sides);
                    for (at, side) in sides.iter().enumerate() {
                        let others = sides.iter().enumerate().filter(|(other, _)| *other != at);
                        let others = others.map(|(_, other)| Term::of("not", [self.term(other, DEPTH)]));
                        let own = side.conjuncts().into_iter().map(|it| self.term(it, DEPTH));
                        arms.push(own.chain(others).collect());
                    }
                    whole.terms.push(self.term(conjunct, DEPTH));
                    // What is asked inside an alternative is wanted if it can be had.
                    for exists in conjunct.exprs() {
                        if let ExprKind::Exists { query, negated: false } = &exists.kind {
                            self.query(query, whole, arms);
                        }
                    }
                }
                ExprKind::Exists { query, negated: false } => self.query(query, whole, arms),
                ExprKind::Exists { query, negated: true } => self.lost(query, whole, arms),
                ExprKind::InQuery { query, negated: true, .. } => self.lost(query, whole, arms),
                ExprKind::InQuery { expr, query, negated: false } => {
                    self.query(query, whole, arms);
                    if let Some(output) = query_outputs(&query.rows).first() {
                        whole.terms.push(Term::of("=", [self.term(expr, DEPTH), self.term(&output.expr, DEPTH)]));
                    }
                }
                // What holds where another condition does holds with it: `CASE WHEN a THEN b END` asks for both.
                ExprKind::Case { operand: None, branches, otherwise } if is_guarded(branches, otherwise.as_deref()) => {
                    for (when, then) in branches {
                        self.condition(when, whole, arms);
                        self.condition(then, whole, arms);
                    }
                }
                _ => {
                    for inner in conjunct.exprs() {
                        if let ExprKind::Scalar(query) = &inner.kind {
                            self.query(query, whole, arms);
                        }
                    }
                    self.cases(conjunct, arms);
                    whole.terms.push(self.term(conjunct, DEPTH));
                }
            }
        }
    }

    /// What must not be there: its rows are away at first. What would find them is an alternative of its own.
    fn lost(&self, query: &'t Query, whole: &mut Goal, arms: &mut Vec<Vec<Term>>) {
        let mut inner = Goal::default();
        let mut own_arms = Vec::new();
        self.query(query, &mut inner, &mut own_arms);
        let Rows::Select(select) = &query.rows else { return };
        let main: BTreeSet<usize> =
            select.from.iter().filter_map(|source| self.rows.get(&source.id)).copied().collect();
        if let Some(first) = main.iter().find(|row| self.scene.seats[**row].number > 0).or_else(|| main.first()) {
            whole.absent.insert(*first);
        }
        // Its rows hold all that it asks for when they come back.
        whole.terms.extend(inner.terms);
        arms.extend(own_arms);
    }

    /// The cells of a view's column: in the first row of each table behind it that has one of that name.
    fn behind(&self, source: &Source, column: &str) -> Vec<Term> {
        let subject = self.scene.subject;
        let tables = source.table().and_then(|view| subject.views.get(view));
        let cell = |name: &String| {
            let seat = self
                .scene
                .seats
                .iter()
                .position(|seat| seat.number == 0 && subject.tables[seat.table].name == *name)?;
            let columns = &subject.tables[self.scene.seats[seat].table].columns;
            let at = columns.iter().position(|known| known.name == column)?;
            Some(self.slot(&Spot::Cell(seat, at)))
        };
        tables.into_iter().flatten().filter_map(cell).collect()
    }

    fn slot(&self, spot: &Spot) -> Term {
        self.scene.at.get(spot).map_or(Term::Unknown, |at| Term::Slot(*at))
    }

    fn column(&self, source: SourceId, column: &'t str, depth: usize) -> Term {
        let Some(of) = self.sources.get(&source) else { return Term::Unknown };
        let named = |outputs: &'t [OutputColumn]| {
            let place = of.columns.iter().position(|(name, _)| name == column);
            let output = place.and_then(|at| outputs.get(at)).or_else(|| outputs.iter().find(|it| it.name == column));
            output.map_or(Term::Unknown, |output| self.term(&output.expr, depth))
        };
        match &of.kind {
            SourceKind::Table(_) => {
                let Some(seat) = self.rows.get(&source) else {
                    return self.behind(of, column).into_iter().next().unwrap_or(Term::Unknown);
                };
                let table = &self.scene.subject.tables[self.scene.seats[*seat].table];
                let at = table.columns.iter().position(|known| known.name == *column);
                at.map_or(Term::Unknown, |at| self.slot(&Spot::Cell(*seat, at)))
            }
            SourceKind::Cte(name) => self.outputs.get(name.as_str()).map_or(Term::Unknown, |outputs| named(outputs)),
            SourceKind::Derived(query) => named(query_outputs(&query.rows)),
            SourceKind::Rows(_) => {
                let fields = self.scene.subject.rows.as_ref().map(|rows| rows.fields.as_slice()).unwrap_or_default();
                let at = fields.iter().position(|field| field.name == *column);
                at.map_or(Term::Unknown, |at| self.slot(&Spot::Field(0, at)))
            }
            SourceKind::Function { .. } | SourceKind::Excluded => Term::Unknown,
        }
    }

    fn member(&self, document: &'t Expr, path: &'t Expr, depth: usize) -> Term {
        let (Some(steps), Term::Slot(slot)) = (steps(path), self.term(document, depth)) else { return Term::Unknown };
        match &self.scene.slots[slot].spot {
            Spot::Cell(seat, at) => self.slot(&Spot::Member(*seat, *at, steps)),
            Spot::Arg(name) => self.slot(&Spot::ArgMember(name.clone(), steps)),
            Spot::Member(seat, at, path) => {
                self.slot(&Spot::Member(*seat, *at, path.iter().cloned().chain(steps).collect()))
            }
            _ => Term::Unknown,
        }
    }

    fn term(&self, expr: &'t Expr, depth: usize) -> Term {
        let Some(depth) = depth.checked_sub(1) else { return Term::Unknown };
        let term = |expr: &'t Expr| self.term(expr, depth);
        let maybe = |negated: bool, term: Term| if negated { Term::of("not", [term]) } else { term };
        match &expr.kind {
            ExprKind::Param(name) => self.slot(&Spot::Arg(name.clone())),
            ExprKind::Null => Term::Is(Value::Null),
            ExprKind::Bool(truth) => Term::Is(Value::Bool(*truth)),
            ExprKind::Number(text) => match (text.parse(), text.parse()) {
                (Ok(n), _) => Term::Is(Value::Int(n)),
                (_, Ok(r)) => Term::Is(Value::Real(r)),
                _ => Term::Unknown,
            },
            ExprKind::Text(text) => Term::Is(Value::Text(text.clone())),
            ExprKind::Column { source, column } => self.column(*source, column, depth),
            ExprKind::Unary { op, expr } => Term::of(op, [term(expr)]),
            ExprKind::Binary { op, left, right } => match op.as_str() {
                "->" | "->>" | "#>" | "#>>" => self.member(left, right, depth),
                op => match (&left.kind, &right.kind) {
                    (ExprKind::Tuple(lefts), ExprKind::Tuple(rights)) => {
                        let pairs = lefts.iter().zip(rights).map(|(left, right)| (term(left), term(right)));
                        tuples(op, &pairs.collect::<Vec<_>>())
                    }
                    _ => Term::of(op, [term(left), term(right)]),
                },
            },
            ExprKind::Is { expr, what, negated } => maybe(*negated, Term::of(&format!("is {what}"), [term(expr)])),
            ExprKind::Between { expr, low, high, negated } => {
                let both = [Term::of(">=", [term(expr), term(low)]), Term::of("<=", [term(expr), term(high)])];
                maybe(*negated, Term::of("and", both))
            }
            ExprKind::InList { expr, list, negated } => {
                maybe(*negated, Term::of("in", std::iter::once(term(expr)).chain(list.iter().map(term))))
            }
            ExprKind::Like { op, expr, pattern, negated, .. } => {
                maybe(*negated, Term::of(op, [term(expr), term(pattern)]))
            }
            ExprKind::Call { name, args, .. } => self.call(name, args, depth),
            ExprKind::Case { operand: None, branches, otherwise } => {
                let branches = branches.iter().flat_map(|(when, then)| [term(when), term(then)]);
                Term::of("case", branches.chain(otherwise.iter().map(|expr| term(expr))))
            }
            ExprKind::Cast { expr, base, .. } => match base {
                Some(Base::Int16 | Base::Int32 | Base::Int64) => Term::of("whole", [term(expr)]),
                _ => term(expr),
            },
            ExprKind::Collate { expr, .. } => term(expr),
            ExprKind::Scalar(query) => {
                query_outputs(&query.rows).first().map_or(Term::Unknown, |output| term(&output.expr))
            }
            _ => Term::Unknown,
        }
    }

    fn call(&self, name: &str, args: &'t [Expr], depth: usize) -> Term {
        match (name, args) {
            ("json_extract" | "jsonb_extract_path" | "jsonb_extract_path_text", [document, path]) => {
                self.member(document, path, depth)
            }
            // The most of one row is that row's.
            ("max" | "min" | "sum" | "avg" | "total", [only]) => self.term(only, depth),
            ("coalesce" | "ifnull", args) => Term::of("coalesce", args.iter().map(|arg| self.term(arg, depth))),
            (
                "lower" | "upper" | "trim" | "btrim" | "ltrim" | "rtrim" | "nullif" | "replace" | "substr"
                | "substring" | "left" | "abs",
                args,
            ) => Term::of(name, args.iter().map(|arg| self.term(arg, depth))),
            ("json_valid", [document]) => Term::of("json valid", [self.term(document, depth)]),
            ("json_type", [document, path]) => Term::of("json type", [self.member(document, path, depth)]),
            ("jsonb_typeof" | "json_typeof", [value]) => Term::of("json typeof", [self.term(value, depth)]),
            ("length" | "char_length", [text]) => Term::of("length", [self.term(text, depth)]),
            ("datetime" | "date" | "timezone" | "to_timestamp", [only]) => self.term(only, depth),
            _ => Term::Unknown,
        }
    }
}

/// Tuples, of which the first place that differs decides.
fn tuples(op: &str, pairs: &[(Term, Term)]) -> Term {
    let of = |op: &str, (left, right): &(Term, Term)| Term::of(op, [left.clone(), right.clone()]);
    match (op, pairs) {
        (_, []) => Term::Unknown,
        (_, [only]) => of(op, only),
        ("<" | "<=" | ">" | ">=", [first, rest @ ..]) => {
            let strict = op.trim_end_matches('=');
            Term::of("or", [of(strict, first), Term::of("and", [of("=", first), tuples(op, rest)])])
        }
        ("<>", pairs) => Term::of("not", [Term::of("and", pairs.iter().map(|pair| of("=", pair)))]),
        (op, pairs) => Term::of("and", pairs.iter().map(|pair| of(op, pair))),
    }
}

/// Whether a CASE has one branch, and nothing holds beside it.
fn is_guarded(branches: &[(Expr, Expr)], otherwise: Option<&Expr>) -> bool {
    branches.len() == 1 && otherwise.is_none_or(|other| matches!(other.kind, ExprKind::Null | ExprKind::Bool(false)))
}

fn alternatives<'t>(expr: &'t Expr, sides: &mut Vec<&'t Expr>) {
    match &expr.kind {
        ExprKind::Binary { op, left, right } if op == "or" => {
            alternatives(left, sides);
            alternatives(right, sides);
        }
        _ => sides.push(expr),
    }
}
