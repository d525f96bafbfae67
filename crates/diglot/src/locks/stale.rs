//! What a statement decides by rows that it has not locked.

use std::collections::{BTreeMap, BTreeSet};

use super::statement::Place;
use super::{Lock, Stale};
use crate::tree::{Body, Expr, ExprKind, JoinKind, Part, Query, Rows, Source, SourceKind, Statement};

/// What a statement that waits for rows decides by rows that it does not lock before. `all` are its locks, `new` those
/// of rows that it does not have already.
pub(super) fn found(
    statement: &Statement,
    all: &[(Place, Lock)],
    new: &[(Place, Lock)],
    deps: &[BTreeSet<usize>],
) -> Vec<Stale> {
    let sources: BTreeMap<_, _> = statement.sources().into_iter().map(|source| (source.id, source)).collect();
    let mut found: Vec<Stale> = Vec::new();
    for (at, part) in statement.parts.iter().enumerate() {
        let within = |place: &Place| !place.after && (place.part == at || deps[at].contains(&place.part));
        let decides = part.target().is_some() || all.iter().any(|(place, _)| place.part == at && !place.after);
        let waits = new.iter().enumerate().filter(|(_, (place, lock))| within(place) && lock.waits);
        let waits: Vec<u32> = waits.filter(|(_, (_, lock))| lock.is_taken()).map(|(index, _)| index as u32).collect();
        if !decides || waits.is_empty() {
            continue;
        }
        let locked =
            |table: &str| all.iter().any(|(place, lock)| within(place) && lock.is_taken() && lock.table == table);
        for condition in decisions(statement, part) {
            let asked = condition.exprs().into_iter().filter_map(|expr| match &expr.kind {
                ExprKind::Column { source, .. } => sources.get(source)?.table(),
                _ => None,
            });
            for table in asked.filter(|table| !locked(table)) {
                let (start, end) = super::statement::within(statement, condition.span);
                // The first condition tells which table it is.
                if !found.iter().any(|known| known.table == table) {
                    found.push(Stale { table: table.to_owned(), start, end, waits: waits.clone() });
                }
            }
        }
    }
    found
}

/// The conditions that decide whether rows of a part are written or locked: of WHERE and of ON, those of the queries
/// that it reads too. What only gives a value decides nothing, nor does what is joined to the left.
fn decisions<'t>(statement: &'t Statement, part: &'t Part) -> Vec<&'t Expr> {
    let mut found = Decisions { statement, unit: part.statement, conditions: Vec::new(), ctes: BTreeSet::new() };
    match &part.body {
        Body::Update(update) => found.from(&update.from, update.filter.as_ref()),
        Body::Delete(delete) => found.from(&delete.using, delete.filter.as_ref()),
        Body::Query(query) => found.query(query),
        Body::Insert(insert) => found.query(&insert.rows),
    }
    found.conditions
}

/// Conditions as they are found.
struct Decisions<'t> {
    statement: &'t Statement,
    unit: usize,
    conditions: Vec<&'t Expr>,
    /// Those that were looked at.
    ctes: BTreeSet<&'t str>,
}

impl<'t> Decisions<'t> {
    fn query(&mut self, query: &'t Query) {
        self.rows(&query.rows);
    }

    fn rows(&mut self, rows: &'t Rows) {
        match rows {
            Rows::Select(select) => self.from(&select.from, select.filter.as_ref()),
            Rows::Set { left, right, .. } => {
                self.rows(left);
                self.rows(right);
            }
            Rows::Query(query) => self.query(query),
            Rows::Values(..) => {}
        }
    }

    fn from(&mut self, sources: &'t [Source], filter: Option<&'t Expr>) {
        for source in sources {
            if let Some(join) = &source.join {
                if join.kind == JoinKind::Left {
                    continue;
                }
                self.all_of(join.on.as_ref());
            }
            match &source.kind {
                SourceKind::Cte(name) => self.cte(name),
                SourceKind::Derived(query) => self.query(query),
                SourceKind::Table(_) | SourceKind::Rows(_) | SourceKind::Function { .. } | SourceKind::Excluded => {}
            }
        }
        self.all_of(filter);
    }

    fn cte(&mut self, name: &'t str) {
        let is_it = |part: &&Part| part.name.as_deref() == Some(name) && part.statement == self.unit;
        let Some(part) = self.statement.parts.iter().find(is_it) else { return };
        // What a write gives back was decided by its own conditions.
        if let Body::Query(query) = &part.body
            && self.ctes.insert(name)
        {
            self.query(query);
        }
    }

    fn all_of(&mut self, filter: Option<&'t Expr>) {
        for condition in filter.into_iter().flat_map(Expr::conjuncts) {
            self.conditions.push(condition);
            for query in condition.exprs().into_iter().filter_map(Expr::subquery) {
                self.query(query);
            }
        }
    }
}
