//! Which occurrence of its relation each source of a part is.
//!
//! Of two subqueries in conditions or values neither sees the other, so what each reads is counted for itself, beginning
//! behind what it sees around it: where they stand, and whether one is written twice, changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::{Relation, relation};
use crate::tree::{Expr, Part, SourceId, Statement};

/// The sources of a part by their relations.
pub(super) fn of(statement: &Statement, part: &Part) -> Vec<(SourceId, Relation)> {
    let named: Vec<(SourceId, String)> =
        part.sources().into_iter().map(|source| (source.id, relation(statement, source))).collect();
    let is_alone = named.len() == named.iter().map(|(_, name)| name).collect::<BTreeSet<_>>().len();
    // Each subquery stands behind those that it is in.
    let subqueries: Vec<BTreeSet<SourceId>> = match is_alone {
        true => Vec::new(),
        false => {
            let queries = part.exprs().into_iter().filter_map(Expr::subquery);
            queries.map(|query| query.sources().into_iter().map(|source| source.id).collect()).collect()
        }
    };
    let innermost = |id: SourceId| subqueries.iter().rposition(|sources| sources.contains(&id));
    let mut counts: BTreeMap<(Option<usize>, String), usize> = BTreeMap::new();
    let places: Vec<Option<usize>> = named.iter().map(|(id, _)| innermost(*id)).collect();
    for (place, (_, name)) in places.iter().zip(&named) {
        *counts.entry((*place, name.clone())).or_default() += 1;
    }
    let mut own: BTreeMap<(Option<usize>, String), usize> = BTreeMap::new();
    let mut found = Vec::with_capacity(named.len());
    for (place, (id, name)) in places.iter().zip(named) {
        let sees = |around: Option<usize>| match (place, around) {
            (Some(at), Some(around)) => around != *at && subqueries[around].contains(&id),
            (Some(_), None) => true,
            (None, _) => false,
        };
        let around =
            counts.iter().filter(|((at, other), _)| *other == name && sees(*at)).map(|(_, count)| count).sum::<usize>();
        let occurrence = own.entry((*place, name.clone())).or_default();
        *occurrence += 1;
        found.push((id, Relation { occurrence: around + *occurrence, name }));
    }
    found
}
