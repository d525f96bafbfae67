//! The locks of one statement, in the order in which it takes them.
//!
//! A CTE that another one reads comes first; what the rest is left to do may come in any order, and then both count.
//! Triggers behind the rows, and what foreign keys ask, come when everything else is done. Several rows are locked
//! while others are being read, so a lock of several rows may also be waited for under what follows it.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use super::names::{Names, selects};
use super::routines::{self, Routine};
use super::stale;
use super::when::may_hold;
use super::{Act, Extent, Lock, Parent, Strength, Summary, Term, body};
use crate::schema::{Schema, Table, Trigger};
use crate::source::Span;
use crate::tree::{
    Body, ConflictAction, Expr, ExprKind, Insert, OrderKey, Part, Query, Source, SourceId, SourceKind, Statement,
};

/// How deep triggers that fire triggers are followed.
const DEEP: usize = 6;

/// Reads what statements lock, with the triggers and functions of a schema.
pub(crate) struct Reader<'s> {
    schema: &'s Schema,
    shard_key: &'s str,
    routines: BTreeMap<String, Routine>,
    /// The columns of primary keys.
    key_columns: BTreeSet<&'s str>,
    conditions: BTreeMap<(String, String), Statement>,
}

/// Where in a statement a lock is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Which statement of a unit.
    statement: usize,
    /// Behind all rows.
    pub(super) after: bool,
    pub(super) part: usize,
}

/// The locks of one statement as they are found.
struct Found<'t> {
    statement: &'t Statement,
    names: Names<'t>,
    locks: Vec<(Place, Lock)>,
    unread: Vec<String>,
    /// How many terms of nested statements have been given a name.
    fresh: u32,
}

/// The rows that a write touches.
pub(super) struct Rows<'t> {
    key: Vec<Term>,
    fixed: Vec<(String, Term)>,
    whole: bool,
    parents: Vec<Parent>,
    extent: Extent,
    pinned: bool,
    /// What is written into columns, as far as it is one value.
    pub(super) written: BTreeMap<&'t str, &'t Expr>,
}

impl<'s> Reader<'s> {
    pub(crate) fn new(schema: &'s Schema, shard_key: &'s str) -> Self {
        let condition = |trigger: &Trigger| {
            let read = body::condition(schema, trigger.when.as_deref()?)?;
            Some(((trigger.table.clone(), trigger.name.clone()), read))
        };
        let conditions = schema.triggers.iter().filter_map(condition).collect();
        let key_columns = schema.tables.values().flat_map(|table| &table.primary_key).map(String::as_str).collect();
        Self { schema, shard_key, routines: routines::understood(schema), key_columns, conditions }
    }

    /// What a statement of a page locks.
    pub(crate) fn summary(&self, statement: &Statement) -> Summary {
        let found = self.found(statement, 0);
        let deps = dependencies(statement);
        let mut locks: Vec<(Place, Lock)> = Vec::new();
        for (at, (place, lock)) in found.locks.iter().enumerate() {
            let same_part = found.locks[..at].iter().any(|(earlier, held)| earlier == place && covers(held, lock));
            let has = |(earlier, held): &(Place, Lock)| covers(held, lock) && is_before(*earlier, *place, &deps);
            if !same_part && !found.locks.iter().any(has) {
                locks.push((*place, lock.clone()));
            }
        }
        let (mut pairs, mut under) = (Vec::new(), Vec::new());
        for (i, (first, held)) in locks.iter().enumerate() {
            for (j, (second, lock)) in locks.iter().enumerate() {
                let sure =
                    |a: (usize, Place), b: (usize, Place)| is_before(a.1, b.1, &deps) || (a.1 == b.1 && a.0 < b.0);
                let mixed = !first.after && !second.after && first.statement == second.statement;
                let again = mixed && lock.extent != Extent::One && held.extent != Extent::One;
                if i != j && (again || !sure((j, *second), (i, *first))) {
                    pairs.push((i as u32, j as u32));
                }
                // Of several rows each follows its own, whatever comes between the rows.
                if lock.is_below(held) && sure((i, *first), (j, *second)) {
                    under.push((i as u32, j as u32));
                }
            }
        }
        let stale = stale::found(statement, &found.locks, &locks, &deps);
        let relative = |(place, mut lock): (Place, Lock)| {
            let file = statement.parts.get(place.part).map_or(statement.span.file, |part| part.span.file);
            (lock.start, lock.end) = within(statement, Span { file, start: lock.start, end: lock.end });
            lock
        };
        let locks = locks.into_iter().map(relative).collect();
        Summary { locks, pairs, under, stale, unread: found.unread }
    }

    fn found<'t>(&self, statement: &'t Statement, depth: usize) -> Found<'t> {
        let names = Names::of(statement);
        let mut found = Found { statement, names, locks: Vec::new(), unread: Vec::new(), fresh: 0 };
        for (at, part) in statement.parts.iter().enumerate() {
            self.part(&mut found, at, part, depth);
        }
        found
    }

    fn part<'t>(&self, found: &mut Found<'t>, at: usize, part: &'t Part, depth: usize) {
        let place = Place { statement: part.statement, after: false, part: at };
        self.calls(found, place, part, depth);
        for query in part.queries().into_iter().rev() {
            self.query(found, place, query);
        }
        match &part.body {
            Body::Query(_) => {}
            Body::Insert(insert) => self.insert(found, place, insert, depth),
            Body::Update(update) => {
                let written = update.set.iter().map(|set| (set.column.as_str(), &set.value)).collect();
                let alone = update.from.is_empty().then_some(update.filter.as_ref());
                let rows = self.rows(found, &update.target, alone, written);
                let changes = |column: &String| rows.written.contains_key(column.as_str());
                let strength = match update.target.table().and_then(|name| self.schema.tables.get(name)) {
                    Some(table) if table.keys().flatten().any(changes) => Strength::Update,
                    _ => Strength::NoKeyUpdate,
                };
                let span = place_of(&update.target, part);
                self.write(found, place, (&update.target, span), (Act::Update, strength), rows, depth);
            }
            Body::Delete(delete) => {
                let alone = delete.using.is_empty().then_some(delete.filter.as_ref());
                let rows = self.rows(found, &delete.target, alone, BTreeMap::new());
                let span = place_of(&delete.target, part);
                self.write(found, place, (&delete.target, span), (Act::Delete, Strength::Update), rows, depth);
            }
        }
    }

    /// The rows of a table that conditions choose; `alone` is the filter where nothing else is read beside them.
    fn rows<'t>(
        &self,
        found: &Found<'_>,
        target: &Source,
        alone: Option<Option<&Expr>>,
        written: BTreeMap<&'t str, &'t Expr>,
    ) -> Rows<'t> {
        let table = target.table().and_then(|name| self.schema.tables.get(name));
        let Some(table) = table else {
            let (key, fixed, parents) = (Vec::new(), Vec::new(), Vec::new());
            return Rows { key, fixed, whole: false, parents, extent: Extent::Any, pinned: true, written };
        };
        let term = |column: &String| found.names.column(target.id, column);
        let is_one = |key: &Vec<String>| key.iter().all(|column| found.names.is_one(&term(column)));
        let one = found.names.is_single(target.id) || table.keys().any(is_one);
        let key: Vec<Term> = table.primary_key.iter().map(term).collect();
        let fixed = found.fixed(target, table);
        let is_fixed = |condition: &Expr| match &condition.kind {
            ExprKind::Binary { op, left, right } if op == "=" => {
                let of_target =
                    |expr: &Expr| matches!(expr.kind, ExprKind::Column { source, .. } if source == target.id);
                (of_target(left) || of_target(right)) && found.names.named(left).is_known()
            }
            _ => false,
        };
        let filter = alone.map(|filter| filter.into_iter().flat_map(Expr::conjuncts).all(is_fixed));
        let whole = filter == Some(true) && !found.names.is_limited(target.id.0) && !found.names.is_single(target.id);
        let parents = self.parents(found, target, || table.columns.iter().map(|column| term(&column.name)).collect());
        let pinned = !found.names.is_limited(target.id.0) && self.is_pinned(found, table, |column| term(column));
        Rows { key, fixed, whole, parents, extent: if one { Extent::One } else { Extent::Any }, pinned, written }
    }

    /// The rows of other tables, read by the statement, of which these have the key: `terms` are those of their columns.
    fn parents(&self, found: &Found<'_>, target: &Source, terms: impl FnOnce() -> Vec<Term>) -> Vec<Parent> {
        let terms = LazyCell::new(terms);
        let parent = |source: &Source| {
            let name = source.table().filter(|_| source.id != target.id)?;
            let table = self.schema.tables.get(name)?;
            let has = |column: &String| terms.contains(&found.names.column(source.id, column));
            let belongs = !table.primary_key.is_empty() && table.primary_key.iter().all(has);
            belongs.then(|| Parent { table: name.to_owned(), fixed: found.fixed(source, table) })
        };
        found.statement.sources().into_iter().filter_map(parent).collect()
    }

    /// Whether rows belong to something that the statement is given: one of their columns, beside the partition, is part
    /// of a key of some table and fixed, or is that of another row that is.
    fn is_pinned(&self, found: &Found<'_>, table: &Table, term: impl Fn(&String) -> Term) -> bool {
        let is_named = |column: &str| column != self.shard_key && self.key_columns.contains(column);
        let given = |term: &Term| !matches!(term, Term::Column(..) | Term::Made(_, false));
        table.columns.iter().filter(|column| is_named(&column.name)).any(|column| {
            let root = term(&column.name);
            let others = match root.clone() {
                Term::Column(source, _) => {
                    [source].into_iter().chain(found.names.equals(&root).map(|(id, _)| id)).collect()
                }
                _ => Vec::new(),
            };
            let of_pinned = |source: u32| {
                !found.names.is_limited(source)
                    && self
                        .key_columns
                        .iter()
                        .filter(|column| is_named(column))
                        .any(|column| given(&found.names.column(SourceId(source), column)))
            };
            given(&root) || others.into_iter().any(of_pinned)
        })
    }

    /// The row locks that a query asks for itself.
    fn query(&self, found: &mut Found<'_>, place: Place, query: &Query) {
        for lock in &query.locks {
            let strength = match lock.strength.as_str() {
                "key share" => Strength::KeyShare,
                "share" => Strength::Share,
                "no key update" => Strength::NoKeyUpdate,
                _ => Strength::Update,
            };
            let mut sources: Vec<&Source> = selects(&query.rows).into_iter().flat_map(|select| &select.from).collect();
            if !lock.of.is_empty() {
                let named = |name: &String| sources.iter().find(|source| source.alias == *name).copied();
                sources = lock.of.iter().filter_map(named).collect();
            }
            let mut at = 0;
            // Who passes over rows or is told of some has not all of them.
            let alone = match &query.rows {
                crate::tree::Rows::Select(select) if select.from.len() == 1 && lock.wait.is_empty() => {
                    Some(select.filter.as_ref())
                }
                _ => None,
            };
            while let Some(source) = sources.get(at).copied() {
                at += 1;
                match &source.kind {
                    SourceKind::Derived(query) => {
                        sources.extend(selects(&query.rows).into_iter().flat_map(|select| &select.from));
                    }
                    SourceKind::Table(_) => {
                        let rows = self.rows(found, source, alone, BTreeMap::new());
                        let ordered = self.is_ordered(found, source, &query.order);
                        let extent = if rows.extent == Extent::Any && ordered { Extent::Ordered } else { rows.extent };
                        let rows = Rows { extent, ..rows };
                        let lock = made(source, (Act::Select, strength), &rows, lock.span, lock.wait.is_empty());
                        found.locks.extend(lock.map(|lock| (place, lock)));
                    }
                    SourceKind::Cte(_) | SourceKind::Rows(_) | SourceKind::Function { .. } | SourceKind::Excluded => {}
                }
            }
        }
    }

    /// Whether the rows of a source come in the order of one of its keys.
    fn is_ordered(&self, found: &Found<'_>, source: &Source, order: &[OrderKey]) -> bool {
        let Some(table) = source.table().and_then(|name| self.schema.tables.get(name)) else { return false };
        let by = found.order(order);
        let is_fixed = |column: &String| {
            let term = found.names.column(source.id, column);
            found.names.is_one(&term) || by.contains(&term)
        };
        !by.is_empty() && table.keys().any(|key| key.iter().all(is_fixed))
    }

    fn insert<'t>(&self, found: &mut Found<'t>, place: Place, insert: &'t Insert, depth: usize) {
        let Some(table) = insert.target.table().and_then(|name| self.schema.tables.get(name)) else { return };
        let mut values: BTreeMap<&str, &Expr> = BTreeMap::new();
        let several = match &insert.rows.rows {
            crate::tree::Rows::Values(rows, _) => {
                let first = rows.first().into_iter().flatten();
                values.extend(insert.columns.iter().map(|(name, _)| name.as_str()).zip(first));
                rows.len() > 1
            }
            rows => {
                let outputs = super::names::outputs(rows).iter().map(|output| &output.expr);
                values.extend(insert.columns.iter().map(|(name, _)| name.as_str()).zip(outputs));
                false
            }
        };
        let is_given = |key: &Vec<String>| {
            let filled = |column: &String| table.column(column).is_some_and(|column| column.has_default);
            key.iter().all(|column| values.contains_key(column.as_str()) || !filled(column))
        };
        let fresh = found.fresh();
        let term = |column: &String| match values.get(column.as_str()) {
            Some(value) if !several => found.names.named(value),
            _ => Term::Made(fresh, false),
        };
        let one = table.keys().any(|key| key.iter().all(|column| found.names.is_one(&term(column))));
        let key: Vec<Term> = table.primary_key.iter().map(term).collect();
        let by = found.order(&insert.rows.order);
        let is_fixed = |column: &String| found.names.is_one(&term(column)) || by.contains(&term(column));
        let ordered = !by.is_empty() && table.keys().any(|key| key.iter().all(is_fixed));
        let extent = match (one, ordered) {
            (true, _) => Extent::One,
            (false, true) => Extent::Ordered,
            (false, false) => Extent::Any,
        };
        let pinned = self.is_pinned(found, table, |column| term(column));
        let collides = table.keys().any(is_given);
        let given = values.iter().filter(|_| !several);
        let fixed: Vec<(String, Term)> =
            given.map(|(column, value)| ((*column).to_owned(), found.names.named(value))).collect();
        let parents = self.parents(found, &insert.target, || fixed.iter().map(|(_, term)| term.clone()).collect());
        let rows = Rows { key, fixed, whole: false, parents, extent, pinned, written: values };
        let upserts = insert.conflict.as_ref().is_some_and(|c| matches!(c.action, ConflictAction::Update { .. }));
        let act = if upserts { Act::Upsert } else { Act::Insert };
        let span = insert.conflict.as_ref().map_or(insert.target.span, |conflict| conflict.span);
        if collides {
            let lock = made(&insert.target, (act, Strength::NoKeyUpdate), &rows, span, true);
            found.locks.extend(lock.map(|lock| (place, lock)));
        }
        if let Some(ConflictAction::Update { set, .. }) = insert.conflict.as_ref().map(|conflict| &conflict.action) {
            let written = set.iter().map(|set| (set.column.as_str(), &set.value)).collect();
            let (key, fixed, parents) = (rows.key.clone(), rows.fixed.clone(), rows.parents.clone());
            let changed = Rows { key, fixed, parents, written, ..rows };
            self.fire(found, place, (&insert.target, span), "update", &changed, depth);
        }
        self.fire(found, place, (&insert.target, span), "insert", &rows, depth);
        self.references(found, place, table, span, &rows);
    }

    fn write<'t>(
        &self,
        found: &mut Found<'t>,
        place: Place,
        (target, span): (&'t Source, Span),
        (act, strength): (Act, Strength),
        rows: Rows<'t>,
        depth: usize,
    ) {
        let lock = made(target, (act, strength), &rows, span, true);
        found.locks.extend(lock.map(|lock| (place, lock)));
        let event = if act == Act::Delete { "delete" } else { "update" };
        self.fire(found, place, (target, span), event, &rows, depth);
        let Some(table) = target.table().and_then(|name| self.schema.tables.get(name)) else { return };
        if act == Act::Update {
            self.references(found, place, table, span, &rows);
        } else {
            self.referred(found, place, table, span);
        }
    }

    /// The rows that a written row refers to.
    fn references(&self, found: &mut Found<'_>, place: Place, table: &Table, span: Span, rows: &Rows<'_>) {
        for reference in &table.foreign_keys {
            let value = |column: &String| rows.written.get(column.as_str()).map(|value| found.names.named(value));
            let Some(key) = reference.columns.iter().map(value).collect::<Option<Vec<Term>>>() else { continue };
            let (act, strength) = (Act::Reference, Strength::KeyShare);
            let place = Place { after: true, ..place };
            found.locks.push((place, lock(&reference.table, (act, strength), key, rows.extent, span)));
        }
    }

    /// The rows that refer to a row that is deleted.
    fn referred(&self, found: &mut Found<'_>, place: Place, table: &Table, span: Span) {
        for child in self.schema.tables.values() {
            for reference in child.foreign_keys.iter().filter(|reference| reference.table == table.name) {
                let (act, strength) = match reference.on_delete.as_str() {
                    "cascade" => (Act::Delete, Strength::Update),
                    "set null" | "set default" => (Act::Update, Strength::NoKeyUpdate),
                    _ => (Act::Reference, Strength::KeyShare),
                };
                let key = vec![Term::Made(found.fresh(), false)];
                let place = Place { after: true, ..place };
                found.locks.push((place, lock(&child.name, (act, strength), key, Extent::Any, span)));
            }
        }
    }

    /// What the functions lock that a part calls.
    fn calls<'t>(&self, found: &mut Found<'t>, place: Place, part: &'t Part, depth: usize) {
        let in_from = part.sources().into_iter().filter_map(|source| match &source.kind {
            SourceKind::Function { name, args } => Some((name, args, source.span)),
            _ => None,
        });
        let calls = part.exprs().into_iter().filter_map(|expr| match &expr.kind {
            ExprKind::Call { name, args, .. } => Some((name, args, expr.span)),
            _ => None,
        });
        for (name, args, span) in in_from.chain(calls) {
            let name = name.rsplit('.').next().unwrap_or(name);
            let Some(routine) = self.routines.get(name) else { continue };
            let terms: Vec<Term> = args.iter().map(|arg| found.names.named(arg)).collect();
            let one = terms.iter().all(|term| found.names.is_one(term));
            let extent = if one { Extent::One } else { Extent::Any };
            let value = |param: &str| {
                let at = routine.params.iter().position(|name| Some(name.as_str()) == param.strip_prefix("arg__"))?;
                terms.get(at).cloned()
            };
            self.nested(found, place, (name, name), (span, extent), value, depth);
        }
    }

    /// What the triggers lock that an event of rows fires.
    fn fire<'t>(
        &self,
        found: &mut Found<'t>,
        place: Place,
        (target, span): (&'t Source, Span),
        event: &str,
        rows: &Rows<'t>,
        depth: usize,
    ) {
        let Some(table) = target.table() else { return };
        for trigger in self.schema.triggers.iter().filter(|trigger| trigger.table == table) {
            let touches = event != "update"
                || trigger.of.is_empty()
                || trigger.of.iter().any(|column| rows.written.contains_key(column.as_str()));
            let condition = self.conditions.get(&(trigger.table.clone(), trigger.name.clone()));
            let may = condition.is_none_or(|condition| may_hold(condition, rows, event));
            if !trigger.events.iter().any(|on| on == event) || !touches || !may {
                continue;
            }
            let key = self.schema.tables.get(table).map_or(&[][..], |table| table.primary_key.as_slice());
            let terms: BTreeMap<String, Term> = key.iter().cloned().zip(rows.key.iter().cloned()).collect();
            let written: BTreeMap<String, Term> =
                rows.written.iter().map(|(name, value)| ((*name).to_owned(), found.names.named(value))).collect();
            let value = |param: &str| {
                let column = param.strip_prefix("new__").or_else(|| param.strip_prefix("old__"))?;
                let set = param.starts_with("new__").then(|| written.get(column)).flatten();
                terms.get(column).or(set).cloned()
            };
            let place = Place { after: !trigger.before, ..place };
            self.nested(found, place, (&trigger.name, &trigger.function), (span, rows.extent), value, depth);
        }
    }

    /// Takes in what a routine locks; `value` says what its parameters are outside.
    fn nested(
        &self,
        found: &mut Found<'_>,
        place: Place,
        (name, function): (&str, &str),
        (span, extent): (Span, Extent),
        value: impl Fn(&str) -> Option<Term>,
        depth: usize,
    ) {
        let Some(routine) = self.routines.get(function) else { return };
        if routine.unread && !found.unread.iter().any(|known| known == function) {
            found.unread.push(function.to_owned());
        }
        if depth >= DEEP {
            return;
        }
        for statement in &routine.statements {
            let inside = self.found(statement, depth + 1);
            for unread in inside.unread {
                if !found.unread.contains(&unread) {
                    found.unread.push(unread);
                }
            }
            let base = found.fresh();
            found.fresh += 1_000;
            for (_, mut lock) in inside.locks {
                for term in lock.key.iter_mut().chain(lock.fixed.iter_mut().map(|(_, term)| term)) {
                    *term = match &*term {
                        Term::Param(name) => value(name).unwrap_or(Term::Made(base, extent == Extent::One)),
                        Term::Literal(_) => continue,
                        Term::Each(_) => Term::Made(base, false),
                        Term::Column(source, column) => Term::Column(base + source, column.clone()),
                        Term::Made(at, one) => Term::Made(base + at % 1_000, *one),
                    };
                }
                if lock.extent == Extent::One {
                    lock.extent = extent;
                }
                // What is read inside is not known outside.
                lock.parents.clear();
                lock.whole = false;
                lock.via.insert(0, name.to_owned());
                (lock.start, lock.end) = (span.start, span.end);
                found.locks.push((place, lock));
            }
        }
    }
}

impl Found<'_> {
    /// What rows are ordered by. Those of a key are in one order by any collation.
    fn order(&self, order: &[OrderKey]) -> Vec<Term> {
        let plain = |expr: &Expr| match &expr.kind {
            ExprKind::Collate { expr, .. } => self.names.named(expr),
            _ => self.names.named(expr),
        };
        order.iter().map(|key| plain(&key.expr)).collect()
    }

    /// The columns of a source that are equal to something else, with its term.
    fn fixed(&self, source: &Source, table: &Table) -> Vec<(String, Term)> {
        let own = |term: &Term| matches!(term, Term::Column(of, _) if *of == source.id.0);
        let of = |name: &String| Some((name.clone(), self.names.replaced(source.id, name).filter(|term| !own(term))?));
        table.columns.iter().filter_map(|column| of(&column.name)).collect()
    }

    /// A number for a term that is like no other; those of the statement's own text are smaller.
    fn fresh(&mut self) -> u32 {
        self.fresh += 1;
        self.statement.span.end.saturating_add(self.fresh)
    }
}

/// A place from the start of a statement; its head for what it has from a shared part.
pub(super) fn within(statement: &Statement, place: Span) -> (u32, u32) {
    let whole = statement.span;
    if whole.contains(place) { (place.start - whole.start, place.end - whole.start) } else { (0, 0) }
}

fn place_of(target: &Source, part: &Part) -> Span {
    Span { start: part.span.start, ..target.span }
}

fn lock(table: &str, (act, strength): (Act, Strength), key: Vec<Term>, extent: Extent, span: Span) -> Lock {
    let (start, end) = (span.start, span.end);
    Lock {
        table: table.to_owned(),
        act,
        strength,
        waits: true,
        key,
        fixed: Vec::new(),
        whole: false,
        parents: Vec::new(),
        extent,
        pinned: true,
        via: Vec::new(),
        start,
        end,
    }
}

fn made(source: &Source, kind: (Act, Strength), rows: &Rows<'_>, span: Span, waits: bool) -> Option<Lock> {
    let lock = lock(source.table()?, kind, rows.key.clone(), rows.extent, span);
    let (fixed, parents) = (rows.fixed.clone(), rows.parents.clone());
    Some(Lock { waits, pinned: rows.pinned, fixed, whole: rows.whole && waits, parents, ..lock })
}

/// Whether who has one lock has the other's row already. An INSERT may have met a row and left it alone.
fn covers(held: &Lock, lock: &Lock) -> bool {
    let same = (held.act != Act::Insert || lock.act == Act::Insert)
        && held.table == lock.table
        && held.key == lock.key
        && !held.key.is_empty();
    same && (held.strength >= lock.strength || held.strength == Strength::NoKeyUpdate)
}

/// The CTEs that each part needs, and those that these need.
fn dependencies(statement: &Statement) -> Vec<BTreeSet<usize>> {
    let parts = &statement.parts;
    let mut all: Vec<BTreeSet<usize>> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let mut own = BTreeSet::new();
        for name in part.sources().into_iter().filter_map(Source::cte) {
            let is_it = |other: &Part| other.name.as_deref() == Some(name) && other.statement == part.statement;
            if let Some(cte) = parts[..at].iter().position(is_it) {
                own.insert(cte);
                own.extend(all[cte].iter().copied());
            }
        }
        all.push(own);
    }
    all
}

/// Whether one place is certainly done with before another begins.
fn is_before(first: Place, second: Place, deps: &[BTreeSet<usize>]) -> bool {
    if first.statement != second.statement {
        return first.statement < second.statement;
    }
    match (first.after, second.after) {
        (false, true) => true,
        (true, false) => false,
        _ => deps.get(second.part).is_some_and(|deps| deps.contains(&first.part)),
    }
}
