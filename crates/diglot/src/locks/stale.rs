//! What a statement decides by rows that it has not locked.

use std::collections::{BTreeMap, BTreeSet};

use super::names::selects;
use super::statement::Place;
use super::{Lock, Stale};
use crate::tree::{Body, Expr, ExprKind, JoinKind, Part, Statement};

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
        let needed = deps[at].iter().map(|at| &statement.parts[*at]).filter(|part| part.target().is_none());
        for condition in needed.chain([part]).flat_map(conditions) {
            let asked = condition.exprs().into_iter().filter_map(|expr| match &expr.kind {
                ExprKind::Column { source, .. } => sources.get(source)?.table(),
                _ => None,
            });
            for table in asked.filter(|table| !locked(table)) {
                let (start, end) =
                    (condition.span.start - statement.span.start, condition.span.end - statement.span.start);
                // The first condition tells which table it is.
                if !found.iter().any(|known| known.table == table) {
                    found.push(Stale { table: table.to_owned(), start, end, waits: waits.clone() });
                }
            }
        }
    }
    found
}

/// The conditions that decide whether rows of a part are written or locked: of WHERE and of ON, at every depth.
fn conditions(part: &Part) -> Vec<&Expr> {
    let filter = match &part.body {
        Body::Update(update) => update.filter.as_ref(),
        Body::Delete(delete) => delete.filter.as_ref(),
        Body::Query(_) | Body::Insert(_) => None,
    };
    let mut found: Vec<&Expr> = filter.into_iter().flat_map(Expr::conjuncts).collect();
    for join in part.sources().into_iter().filter_map(|source| source.join.as_ref()) {
        // What is joined to the left decides nothing by itself.
        if join.kind != JoinKind::Left {
            found.extend(join.on.iter().flat_map(Expr::conjuncts));
        }
    }
    for query in part.queries() {
        let filters = selects(&query.rows).into_iter().filter_map(|select| select.filter.as_ref());
        found.extend(filters.flat_map(Expr::conjuncts));
    }
    found
}
