//! Looks for picks under which conditions hold.

use super::goals::Goal;
use super::scene::{Picks, Scene, Spot};
use super::term::Term;
use crate::prove::domain::Tier;
use diglot::value::Value;

/// How many conditions are mended one after another.
const STEPS: usize = 60;

/// Picks under which as many terms of a goal hold as can be had: the first value of every slot where that is enough.
pub(super) fn solve(scene: &Scene<'_>, goal: &Goal, seats: &dyn Fn(usize) -> bool) -> Picks {
    let mut picks: Picks = vec![0; scene.slots.len()];
    for (at, slot) in scene.slots.iter().enumerate() {
        // A member of a document is there at first, wherever it can be.
        if let Spot::Here(seat) = slot.spot {
            picks[at] = u16::from(!seats(seat));
        }
    }
    let mut given_up: Vec<&Term> = Vec::new();
    for _ in 0..STEPS {
        let fails = |term: &&Term| holds(scene, &picks, term) == Some(false) && !given_up.contains(term);
        let Some(term) = goal.terms.iter().find(fails) else { break };
        match mended(scene, &picks, goal, term) {
            Some(better) => picks = better,
            None => given_up.push(term),
        }
    }
    for (at, slot) in scene.slots.iter().enumerate() {
        if matches!(slot.spot, Spot::Here(seat) if goal.absent.contains(&seat)) {
            picks[at] = 1;
        }
    }
    picks
}

/// Whether a term holds under picks.
pub(super) fn holds(scene: &Scene<'_>, picks: &Picks, term: &Term) -> Option<bool> {
    let of = |slot: usize| {
        let choice = scene.slots[slot].choices.get(usize::from(picks[slot]))?;
        match (&choice.value, &scene.slots[slot].spot) {
            (Some(value), _) => Some(value.clone()),
            (None, Spot::Member(..) | Spot::ArgMember(..)) => Some(Value::Null),
            (None, _) => None,
        }
    };
    term.holds(&of)
}

/// Other picks in one or two slots of a term under which it holds and no more other ones fail than did.
fn mended(scene: &Scene<'_>, picks: &Picks, goal: &Goal, term: &Term) -> Option<Picks> {
    let fails = |picks: &Picks| goal.terms.iter().filter(|term| holds(scene, picks, term) == Some(false)).count();
    let before = fails(picks);
    let mut slots = term.slots();
    slots.sort_unstable();
    slots.dedup();
    let ordinary = |slot: usize| -> Vec<u16> {
        let choices = scene.slots[slot].choices.iter().enumerate();
        choices.filter(|(_, choice)| choice.tier != Tier::Edge).filter_map(|(at, _)| u16::try_from(at).ok()).collect()
    };
    let mut best: Option<(usize, Picks)> = None;
    let mut consider = |next: Picks| {
        if holds(scene, &next, term) == Some(false) {
            return;
        }
        let left = fails(&next);
        if left <= before && best.as_ref().is_none_or(|(known, _)| left < *known) {
            best = Some((left, next));
        }
    };
    for &slot in &slots {
        for pick in ordinary(slot) {
            let mut next = picks.clone();
            next[slot] = pick;
            consider(next);
        }
    }
    // What stands in the way of one slot is often what another term holds against the other.
    for (at, &one) in slots.iter().enumerate() {
        for &other in &slots[at + 1..] {
            for pick in ordinary(one) {
                for partner in ordinary(other) {
                    let mut next = picks.clone();
                    (next[one], next[other]) = (pick, partner);
                    consider(next);
                }
            }
        }
    }
    best.map(|(_, picks)| picks)
}
