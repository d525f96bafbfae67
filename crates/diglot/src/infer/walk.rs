//! Walks a statement and notes what every parameter meets.

mod function;
mod learn;

use std::collections::HashMap;

use super::evidence::{Evidence, Evidences, Hint, Weight};
use super::origin::{Deep, Origin, Sources};
use crate::dialect::Dialect;
use crate::tree::{
    Assignment, Body, ConflictAction, Expr, ExprKind, Insert, OrderKey, OutputColumn, Part, Query, Rows, Select,
    Source, SourceKind, Statement,
};
use crate::types::Base;

/// The evidence of one page.
pub(super) fn evidence(tree: &Statement) -> Evidences<'_> {
    let mut walk = Walk::of(tree);
    // Names first: a column may be followed through a part that comes later in the list.
    for part in &tree.parts {
        walk.learn_part(part);
    }
    for part in &tree.parts {
        walk.part(part);
    }
    walk.found
}

/// The sources of a statement, all learned.
pub fn sources(tree: &Statement) -> Sources<'_> {
    let mut walk = Walk::of(tree);
    for part in &tree.parts {
        walk.learn_part(part);
        part.queries().into_iter().for_each(|query| walk.learn_query(query));
    }
    walk.sources
}

struct Walk<'a> {
    dialect: Dialect,
    sources: Sources<'a>,
    found: Evidences<'a>,
    /// What expressions that several others are compared with were asked for. Each question is walked once: such
    /// expressions nest, and every level would otherwise multiply the walks of those below it.
    asked: HashMap<*const Expr, Vec<Option<Hint<'a>>>>,
}

impl<'a> Walk<'a> {
    fn of(tree: &'a Statement) -> Self {
        let (sources, found) = (Sources::of(tree), Evidences::default());
        Self { dialect: tree.dialect, sources, found, asked: HashMap::new() }
    }

    fn part(&mut self, part: &'a Part) {
        match &part.body {
            Body::Query(query) => self.query(query, &[]),
            Body::Insert(insert) => self.insert(insert),
            Body::Update(update) => {
                self.assignments(&update.target, &update.set);
                self.from(&update.from);
                self.condition(update.filter.as_ref());
                self.returning(&update.returning);
            }
            Body::Delete(delete) => {
                self.from(&delete.using);
                self.condition(delete.filter.as_ref());
                self.returning(&delete.returning);
            }
        }
    }

    fn insert(&mut self, insert: &'a Insert) {
        let wants: Vec<Option<Hint<'a>>> =
            insert.columns.iter().map(|(column, _)| column_of(&insert.target, column)).collect();
        self.query(&insert.rows, &wants);
        if let Some(conflict) = &insert.conflict {
            self.condition(conflict.target_filter.as_ref());
            if let ConflictAction::Update { set, filter, .. } = &conflict.action {
                self.assignments(&insert.target, set);
                self.condition(filter.as_ref());
            }
        }
        self.returning(&insert.returning);
    }

    fn assignments(&mut self, target: &'a Source, set: &'a [Assignment]) {
        for assignment in set {
            self.expr(&assignment.value, column_of(target, &assignment.column).as_ref());
        }
    }

    fn returning(&mut self, columns: &'a [OutputColumn]) {
        for column in columns {
            self.expr(&column.expr, None);
        }
    }

    fn condition(&mut self, condition: Option<&'a Expr>) {
        if let Some(condition) = condition {
            self.expr(condition, Some(&Hint::heavy(Base::Bool)));
        }
    }

    pub(super) fn query(&mut self, query: &'a Query, wants: &[Option<Hint<'a>>]) {
        self.learn_query(query);
        for (_, cte) in &query.ctes {
            self.query(cte, &[]);
        }
        self.rows(&query.rows, wants);
        self.order(&query.order);
        for bound in [&query.limit, &query.offset].into_iter().flatten() {
            self.expr(bound, Some(&Hint::heavy(Base::Int64)));
        }
    }

    fn rows(&mut self, rows: &'a Rows, wants: &[Option<Hint<'a>>]) {
        match rows {
            Rows::Select(select) => self.select(select, wants),
            Rows::Values(rows, _) => {
                for row in rows {
                    for (i, value) in row.iter().enumerate() {
                        // Without a target, the rows of a VALUES list type each other.
                        let other = || rows.iter().filter_map(|row| row.get(i)).find_map(|e| self.hint(e));
                        let want = wants.get(i).cloned().flatten().or_else(other);
                        self.expr(value, want.as_ref());
                    }
                }
            }
            Rows::Set { left, right, .. } => {
                let wants_of = |walk: &Self, side: &'a Rows| -> Vec<Option<Hint<'a>>> {
                    let outputs = super::origin::query_outputs(side);
                    outputs.iter().map(|output| walk.hint(&output.expr)).collect()
                };
                let (of_left, of_right) = (wants_of(self, left), wants_of(self, right));
                self.rows(left, if wants.is_empty() { &of_right } else { wants });
                self.rows(right, if wants.is_empty() { &of_left } else { wants });
            }
            Rows::Query(query) => self.query(query, wants),
        }
    }

    fn select(&mut self, select: &'a Select, wants: &[Option<Hint<'a>>]) {
        for (i, column) in select.columns.iter().enumerate() {
            self.expr(&column.expr, wants.get(i).and_then(Option::as_ref));
        }
        self.from(&select.from);
        self.condition(select.filter.as_ref());
        self.condition(select.having.as_ref());
        for expr in select.group.iter().chain(select.distinct.iter().flat_map(|(on, _)| on)) {
            self.expr(expr, None);
        }
    }

    fn from(&mut self, sources: &'a [Source]) {
        self.learn_sources(sources);
        for source in sources {
            match &source.kind {
                SourceKind::Derived(query) => self.query(query, &[]),
                SourceKind::Function { name, args } => self.function(name, args, None),
                SourceKind::Table(_) | SourceKind::Cte(_) | SourceKind::Rows(_) | SourceKind::Excluded => {}
            }
            self.condition(source.join.as_ref().and_then(|join| join.on.as_ref()));
        }
    }

    pub(super) fn order(&mut self, keys: &'a [OrderKey]) {
        for key in keys {
            self.expr(&key.expr, None);
        }
    }

    /// Walks an expression in a place that wants the type of `want`.
    pub(super) fn expr(&mut self, expr: &'a Expr, want: Option<&Hint<'a>>) {
        match &expr.kind {
            ExprKind::Param(name) => self.note(name, expr, want),
            ExprKind::Column { .. } => {
                // A CTE that only names a parameter: what meets its column meets the parameter.
                match (self.sources.deep(expr), want) {
                    (Deep::Expr(Expr { kind: ExprKind::Param(name), .. }), _) => self.note(name, expr, want),
                    (Deep::Field(name), Some(want)) => {
                        self.found.add_to_field(name, Evidence { hint: want.clone(), span: expr.span });
                    }
                    _ => {}
                }
            }
            ExprKind::Collate { expr, .. } => self.expr(expr, want),
            ExprKind::Unary { op, expr } if op == "not" => self.expr(expr, Some(&Hint::heavy(Base::Bool))),
            ExprKind::Unary { expr, .. } => self.expr(expr, want.cloned().map(Hint::without_origin).as_ref()),
            ExprKind::Binary { op, left, right } => self.binary(op, left, right, want),
            ExprKind::Is { expr, what, .. } => {
                self.expr(expr, (*what != "null").then(|| Hint::heavy(Base::Bool)).as_ref());
            }
            ExprKind::Between { expr, low, high, .. } => {
                self.meet(expr, low);
                self.meet(expr, high);
            }
            ExprKind::InList { expr, list, .. } => list.iter().for_each(|item| self.meet(expr, item)),
            ExprKind::InQuery { expr, query, .. } => self.in_query(expr, query),
            ExprKind::Exists { query, .. } => self.query(query, &[]),
            ExprKind::Scalar(query) => self.query(query, &[want.cloned()]),
            ExprKind::Like { expr, pattern, .. } => {
                self.expr(expr, Some(&Hint::heavy(Base::Text)));
                self.expr(pattern, Some(&Hint::heavy(Base::Text)));
            }
            ExprKind::Call { name, args, order, filter, over, .. } => {
                self.function(name, args, want);
                self.order(order);
                self.condition(filter.as_deref());
                if let Some(window) = over {
                    window.partition.iter().for_each(|expr| self.expr(expr, None));
                    self.order(&window.order);
                }
            }
            ExprKind::Case { operand, branches, otherwise } => {
                let results: Vec<&'a Expr> =
                    branches.iter().map(|(_, then)| then).chain(otherwise.as_deref()).collect();
                for (when, _) in branches {
                    match operand {
                        Some(operand) => self.meet(operand, when),
                        None => self.expr(when, Some(&Hint::heavy(Base::Bool))),
                    }
                }
                self.alike(&results, want);
            }
            ExprKind::Cast { expr, base, .. } => {
                let weight = match self.dialect {
                    Dialect::Sqlite => Weight::Cast,
                    Dialect::Pg => Weight::Heavy,
                };
                // A list in another width has the same items.
                let same = want.filter(|want| base.as_ref() == Some(&want.base));
                let elements = same.and_then(|want| want.elements);
                let hint = base.clone().map(|base| Hint { elements, ..Hint::new(base, weight) });
                self.expr(expr, hint.as_ref());
            }
            ExprKind::Array(items) => {
                let item = want.and_then(|want| element(&want.base)).map(Hint::heavy);
                self.alike(&items.iter().collect::<Vec<_>>(), item.as_ref());
            }
            ExprKind::Tuple(items) => items.iter().for_each(|item| self.expr(item, None)),
            ExprKind::Any { left, right, .. } => self.any(left, right),
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Number(_)
            | ExprKind::Text(_)
            | ExprKind::Blob(_)
            | ExprKind::Opaque(_) => {}
        }
    }

    fn note(&mut self, param: &'a str, expr: &Expr, want: Option<&Hint<'a>>) {
        if let Some(want) = want {
            self.found.add(param, Evidence { hint: want.clone(), span: expr.span });
        }
    }

    fn binary(&mut self, op: &str, left: &'a Expr, right: &'a Expr, want: Option<&Hint<'a>>) {
        let text = Hint::heavy(Base::Text);
        match op {
            "and" | "or" => {
                self.expr(left, Some(&Hint::heavy(Base::Bool)));
                self.expr(right, Some(&Hint::heavy(Base::Bool)));
            }
            "->" | "->>" => {
                self.expr(left, Some(&Hint::light(Base::Json)));
                self.expr(right, Some(&Hint::light(Base::Text)));
            }
            "#>" | "#>>" => {
                self.expr(left, Some(&Hint::heavy(Base::Json)));
                self.expr(right, Some(&Hint::heavy(Base::TextArray)));
            }
            "?" => self.expr(right, Some(&text)),
            "+" | "-" | "*" | "/" | "%" | "&" | "|" | "<<" | ">>" | "||" => {
                let wanted = want.cloned().map(Hint::without_origin);
                let beside = |walk: &Self, other: &'a Expr| match walk.hint(other).map(Hint::without_origin) {
                    // SQLite writes a number into the text; Postgres joins it only with text.
                    Some(hint) if op == "||" && !joins(&hint.base) => Some(text.clone()),
                    hint => hint.or_else(|| wanted.clone()),
                };
                let (of_right, of_left) = (beside(self, right), beside(self, left));
                self.expr(left, of_right.as_ref());
                self.expr(right, of_left.as_ref());
            }
            _ => self.meet(left, right),
        }
    }

    /// Two expressions that are compared: each says the other's type.
    pub(super) fn meet(&mut self, left: &'a Expr, right: &'a Expr) {
        if let (ExprKind::Tuple(lefts), ExprKind::Tuple(rights)) = (&left.kind, &right.kind) {
            lefts.iter().zip(rights).for_each(|(left, right)| self.meet(left, right));
            return;
        }
        let (of_left, of_right) = (self.hint(left), self.hint(right));
        if let (Some(a), Some(b)) = (self.param(left), self.param(right)) {
            self.found.link(a, b);
        }
        if self.is_new(left, of_right.as_ref()) {
            self.expr(left, of_right.as_ref());
        }
        self.expr(right, of_left.as_ref());
    }

    /// Whether an expression was not yet walked in such a place. What holds no other expression may be again.
    fn is_new(&mut self, expr: &'a Expr, want: Option<&Hint<'a>>) -> bool {
        if matches!(expr.kind, ExprKind::Param(_) | ExprKind::Column { .. }) {
            return true;
        }
        let asked = self.asked.entry(expr).or_default();
        let is_new = !asked.iter().any(|known| known.as_ref() == want);
        if is_new {
            asked.push(want.cloned());
        }
        is_new
    }

    /// Expressions of which one is the result: each says the others' type.
    pub(super) fn alike(&mut self, exprs: &[&'a Expr], want: Option<&Hint<'a>>) {
        let hints: Vec<Option<Hint<'a>>> = exprs.iter().map(|expr| self.hint(expr)).collect();
        for (i, expr) in exprs.iter().enumerate() {
            let siblings = || hints.iter().enumerate().filter(|(j, _)| *j != i).filter_map(|(_, hint)| hint.as_ref());
            // The engines type the siblings among themselves before they look at what stands around them.
            let heavy = siblings().find(|hint| hint.weight == Weight::Heavy);
            self.expr(expr, heavy.or(want).or_else(|| siblings().next()));
        }
    }

    fn in_query(&mut self, expr: &'a Expr, query: &'a Query) {
        self.learn_query(query);
        let left = self.hint(expr);
        if let Some(list) = query.each_of() {
            let hint = match left.and_then(Hint::list) {
                // Digits may be those of ids: what the facing page says of the list decides.
                Some(list) if expr.digits_of().is_some() => Hint::light(list.base),
                Some(list) => list,
                None => Hint::light(Base::Json),
            };
            self.expr(list, Some(&hint));
            return;
        }
        let first = super::origin::query_outputs(&query.rows).first();
        let of_query = first.and_then(|output| self.hint(&output.expr));
        self.expr(expr, of_query.as_ref());
        self.query(query, &[left]);
    }

    fn any(&mut self, left: &'a Expr, right: &'a Expr) {
        let list = self.hint(left).and_then(Hint::list);
        let item = self.hint(right).and_then(|hint| element(&hint.base)).map(Hint::heavy);
        self.expr(left, item.as_ref());
        match &right.kind {
            ExprKind::Scalar(query) => {
                let of_left = self.hint(left);
                self.query(query, &[of_left]);
            }
            _ => self.expr(right, list.as_ref()),
        }
    }

    fn param(&self, expr: &'a Expr) -> Option<&'a str> {
        match self.sources.deep(expr) {
            Deep::Expr(Expr { kind: ExprKind::Param(name), .. }) => Some(name),
            _ => None,
        }
    }

    /// What an expression says about a parameter beside it.
    pub(super) fn hint(&self, expr: &'a Expr) -> Option<Hint<'a>> {
        let base = || expr.ty.as_ref().map(|ty| ty.base.clone());
        match &expr.kind {
            ExprKind::Param(_) | ExprKind::Null | ExprKind::Tuple(_) => None,
            ExprKind::Number(_) | ExprKind::Text(_) | ExprKind::Bool(_) | ExprKind::Blob(_) => base().map(Hint::light),
            ExprKind::Column { .. } => {
                let origin = match self.sources.deep(expr) {
                    Deep::Table(origin) => Some(origin),
                    _ => None,
                };
                base().map(|base| Hint::of(base, origin))
            }
            ExprKind::Collate { expr: inner, .. } => self.hint(inner),
            ExprKind::Scalar(query) => {
                let origin = super::origin::query_outputs(&query.rows).first().and_then(|o| self.hint(&o.expr)?.origin);
                base().map(|base| Hint::of(base, origin))
            }
            _ => base().map(Hint::heavy),
        }
    }
}

/// The hint of a table's column.
fn column_of<'a>(target: &'a Source, column: &'a str) -> Option<Hint<'a>> {
    let (_, ty) = target.columns.iter().find(|(name, _)| name == column)?;
    let origin = match &target.kind {
        SourceKind::Table(table) => Some(Origin { table, column }),
        _ => None,
    };
    ty.as_ref().map(|ty| Hint::of(ty.base.clone(), origin))
}

/// The element type of a list's type.
pub(super) fn element(list: &Base) -> Option<Base> {
    match list {
        Base::TextArray => Some(Base::Text),
        Base::Int64Array => Some(Base::Int64),
        Base::UuidArray => Some(Base::Uuid),
        _ => None,
    }
}

fn joins(base: &Base) -> bool {
    matches!(base, Base::Text | Base::Json | Base::Bytes | Base::TextArray | Base::Int64Array | Base::UuidArray)
}
