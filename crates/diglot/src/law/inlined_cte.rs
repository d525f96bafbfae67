//! A CTE that is read once, and the same query where it is read.
//!
//! # Why
//!
//! A CTE that only reads and is named once, by the statement that holds it, gives the rows that its query gives there. A
//! name that both pages have stays: the pages are compared part by part. A row lock must be one that the write lock of
//! the SQLite page makes up for.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT s.n AS c FROM (SELECT t.n FROM t WHERE t.big > 3 ORDER BY t.id LIMIT 2) AS s ORDER BY s.n
//! pg:     WITH some AS (SELECT t.n FROM t WHERE t.big > 3 ORDER BY t.id LIMIT 2) SELECT some.n AS c FROM some ORDER BY some.n
//! sqlite: UPDATE u SET name = :name WHERE u.n IN (SELECT t.n FROM t WHERE t.name = 'x' ORDER BY t.id LIMIT 1)
//! pg:     WITH next AS (SELECT t.n FROM t WHERE t.name = 'x' ORDER BY t.id LIMIT 1 FOR UPDATE SKIP LOCKED) UPDATE u SET name = :name FROM next WHERE u.n = next.n
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT s.n AS c FROM (SELECT t.n FROM t WHERE t.big > 3 ORDER BY t.id LIMIT 2) AS s ORDER BY s.n
//! pg:     WITH some AS (SELECT t.n FROM t WHERE t.big > 4 ORDER BY t.id LIMIT 2) SELECT some.n AS c FROM some ORDER BY some.n
//! sqlite: UPDATE u SET name = :name WHERE u.n IN (SELECT t.n FROM t WHERE t.name = 'x' ORDER BY t.id LIMIT 2)
//! pg:     WITH next AS (SELECT t.n FROM t WHERE t.name = 'x' ORDER BY t.id LIMIT 1 FOR UPDATE SKIP LOCKED) UPDATE u SET name = :name FROM next WHERE u.n = next.n
//! ```

use super::walk;
use crate::normal::PairContext;
use crate::tree::{Body, Part, Query, Rows, Select, Source, SourceKind, Statement};

pub(super) fn apply(statement: &mut Statement, facing: &Statement, pair: &PairContext<'_>) -> bool {
    let mut changed = false;
    while let Some(at) = (0..statement.parts.len()).find(|at| is_read_once(statement, facing, pair, *at)) {
        let part = statement.parts.remove(at);
        if let Some(result) = statement.result.as_mut().filter(|result| **result > at) {
            *result -= 1;
        }
        let (Body::Query(query), Some(name)) = (part.body, part.name) else { return changed };
        for part in &mut statement.parts {
            put(part, &name, &query);
        }
        changed = true;
    }
    changed
}

fn is_read_once(statement: &Statement, facing: &Statement, pair: &PairContext<'_>, at: usize) -> bool {
    let part = &statement.parts[at];
    let (Body::Query(query), Some(name)) = (&part.body, &part.name) else { return false };
    let is_it = |other: &Part| other.name.as_ref() == Some(name);
    let is_lost = |lock: &crate::tree::Lock| !pair.under_write_lock || lock.wait == "nowait";
    let places: Vec<&Part> = statement
        .parts
        .iter()
        .flat_map(|part| part.sources().into_iter().map(move |source| (part, source)))
        .filter(|(_, source)| source.cte() == Some(name))
        .map(|(part, _)| part)
        .collect();
    let [reader] = places.as_slice() else { return false };
    let mut inner = statement.parts.iter().flat_map(Part::queries).flat_map(|query| &query.ctes);
    if inner.any(|(other, _)| other == name) {
        return false;
    }
    statement.parts.iter().filter(|other| is_it(other)).count() == 1
        && !facing.parts.iter().any(is_it)
        && !query.locks.iter().any(is_lost)
        && reader.statement == part.statement
        && !is_it(reader)
}

/// Puts the query where the CTE is read.
fn put(part: &mut Part, name: &str, query: &Query) {
    let place = |source: &mut Source| {
        if source.cte() == Some(name) {
            source.kind = SourceKind::Derived(Box::new(Query { locks: Vec::new(), ..query.clone() }));
        }
    };
    let of_select = |select: &mut Select| select.from.iter_mut().for_each(place);
    fn selects(rows: &mut Rows, of_select: &dyn Fn(&mut Select)) {
        match rows {
            Rows::Select(select) => of_select(select),
            Rows::Set { left, right, .. } => {
                selects(left, of_select);
                selects(right, of_select);
            }
            Rows::Values(..) | Rows::Query(_) => {}
        }
    }
    match &mut part.body {
        Body::Update(update) => update.from.iter_mut().for_each(place),
        Body::Delete(delete) => delete.using.iter_mut().for_each(place),
        Body::Query(_) | Body::Insert(_) => {}
    }
    walk::body(&mut part.body, &mut |inner| selects(&mut inner.rows, &of_select), &mut |_| {});
}
