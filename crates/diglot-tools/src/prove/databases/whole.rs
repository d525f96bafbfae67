//! All databases of up to so many rows a table.

use std::collections::BTreeMap;

use super::scene::{Picks, Scene, Spot};
use crate::prove::domain::Tier;
use crate::prove::order::Order;
use crate::prove::subject::Subject;

/// Picks for every database of up to `rows` rows a table with every set of arguments, over the core of every place; those
/// with fewer rows first, and those with the same rows one behind the other. None where there are more than `budget`.
pub(super) fn all<'s>(subject: &'s Subject, rows: usize, today: i64, budget: usize) -> Option<(Scene<'s>, Vec<Picks>)> {
    let tables = subject.tables.iter().enumerate();
    let seated = tables.filter(|(_, table)| subject.reading.seats.contains_key(&table.name));
    let counts: BTreeMap<usize, usize> = seated.map(|(at, _)| (at, rows)).collect();
    let scene = Scene::new(subject, &counts, today);
    let of_args = scene.slots.iter().enumerate().filter(|(_, slot)| !is_of_row(&slot.spot));
    let args: Vec<usize> = of_args.map(|(at, _)| at).collect();
    let mut seats: BTreeMap<usize, Vec<Vec<usize>>> = BTreeMap::new();
    for (seat, of) in scene.seats.iter().enumerate() {
        let own = scene.slots.iter().enumerate().filter(|(_, slot)| cell_of(&slot.spot) == Some(seat));
        seats.entry(of.table).or_default().push(own.map(|(at, _)| at).collect());
    }
    let mut count = product(&scene, &args);
    let mut sides: usize = 1;
    for slots in seats.values() {
        let shapes = product(&scene, &slots[0]);
        count = count.saturating_mul((0..=rows).fold(0, |sum: usize, k| sum.saturating_add(multisets(shapes, k))));
        sides = sides.saturating_mul(2);
    }
    if count > budget {
        return None;
    }
    // Rows have their numbers in the order in which they stand, and may be asked for by what is in them in the opposite one.
    let is_ordered = subject.rests_on_order || subject.order != Order::Free;
    let is_turned = is_ordered && count.saturating_mul(sides) <= budget / 2;
    let blank: Picks = vec![0; scene.slots.len()];
    let mut databases: Vec<(usize, Picks)> = vec![(0, blank)];
    for (table, slots) in &seats {
        let shapes = tuples(&scene, &slots[0]);
        let here: Vec<usize> = (0..scene.seats.len())
            .filter(|seat| scene.seats[*seat].table == *table)
            .filter_map(|seat| scene.at.get(&Spot::Here(seat)).copied())
            .collect();
        let mut sets: Vec<Vec<usize>> = (0..=rows).flat_map(|k| of_shapes(shapes.len(), k)).collect();
        if is_turned {
            let turned = sets.iter().map(|set| set.iter().rev().copied().collect::<Vec<usize>>());
            let turned: Vec<Vec<usize>> = turned.filter(|set| set.first() != set.last()).collect();
            sets.extend(turned);
        }
        let mut next = Vec::with_capacity(databases.len() * sets.len());
        for (size, picks) in &databases {
            for set in &sets {
                let mut picks = picks.clone();
                for (row, here) in here.iter().enumerate() {
                    picks[*here] = u16::from(row >= set.len());
                    let Some(shape) = set.get(row).map(|shape| &shapes[*shape]) else { continue };
                    slots[row].iter().zip(shape).for_each(|(slot, pick)| picks[*slot] = *pick);
                }
                next.push((size + set.len(), picks));
            }
        }
        databases = next;
    }
    databases.sort_by_key(|(size, _)| *size);
    let arguments = tuples(&scene, &args);
    let mut all = Vec::with_capacity(databases.len() * arguments.len());
    for (_, picks) in databases {
        for tuple in &arguments {
            let mut picks = picks.clone();
            args.iter().zip(tuple).for_each(|(slot, pick)| picks[*slot] = *pick);
            all.push(picks);
        }
    }
    Some((scene, all))
}

fn is_of_row(spot: &Spot) -> bool {
    matches!(spot, Spot::Here(_) | Spot::Crowd(_) | Spot::Parade(_)) || cell_of(spot).is_some()
}

fn cell_of(spot: &Spot) -> Option<usize> {
    match spot {
        Spot::Cell(seat, _) | Spot::Member(seat, ..) => Some(*seat),
        _ => None,
    }
}

/// The picks of a slot that are of the core.
fn core(scene: &Scene<'_>, slot: usize) -> Vec<u16> {
    let choices = scene.slots[slot].choices.iter().enumerate();
    let core = choices.filter(|(_, choice)| choice.tier == Tier::Core).filter_map(|(at, _)| u16::try_from(at).ok());
    let core: Vec<u16> = core.collect();
    if core.is_empty() { vec![0] } else { core }
}

fn product(scene: &Scene<'_>, slots: &[usize]) -> usize {
    slots.iter().fold(1, |count: usize, slot| count.saturating_mul(core(scene, *slot).len()))
}

fn tuples(scene: &Scene<'_>, slots: &[usize]) -> Vec<Vec<u16>> {
    let mut all: Vec<Vec<u16>> = vec![Vec::new()];
    for slot in slots {
        let picks = core(scene, *slot);
        let longer = all.iter().flat_map(|tuple| picks.iter().map(|pick| [tuple.as_slice(), &[*pick]].concat()));
        all = longer.collect();
    }
    all
}

/// How many multisets of `k` there are over `n`.
fn multisets(n: usize, k: usize) -> usize {
    (0..k).fold(1, |count: usize, at| count.saturating_mul(n + at) / (at + 1))
}

/// Every multiset of `k` over `n`.
fn of_shapes(n: usize, k: usize) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..k {
        let longer = sets.iter().flat_map(|set| {
            (set.last().copied().unwrap_or(0)..n).map(|next| set.iter().copied().chain([next]).collect::<Vec<usize>>())
        });
        sets = longer.collect();
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_multisets_as_are_counted() {
        for (n, k, count) in [(3, 0, 1), (3, 1, 3), (3, 2, 6), (4, 3, 20), (1, 3, 1)] {
            assert_eq!(multisets(n, k), count);
            assert_eq!(of_shapes(n, k).len(), count, "{n} over {k}");
        }
    }
}
