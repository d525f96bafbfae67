//! Databases around those in which every condition holds: one place changed, then two, then several.

use std::collections::{BTreeMap, BTreeSet};

use super::goals;
use super::scene::{Picks, Scene, Spot};
use super::solve::solve;
use crate::prove::domain::Tier;
use crate::prove::random::Random;
use crate::prove::subject::Subject;

/// From how many databases in which conditions hold the others are made.
const BASES: usize = 16;

/// A database in which conditions hold, and the slots that its own alternative speaks of.
struct Base {
    picks: Picks,
    own: BTreeSet<usize>,
}

/// What was made.
pub(super) struct Around<'s> {
    pub(super) scene: Scene<'s>,
    pub(super) ordinary: Vec<Picks>,
    pub(super) edges: Vec<Picks>,
    /// Every two values of two places met.
    pub(super) pairs: bool,
    /// The most rows of a table.
    pub(super) rows: usize,
}

/// So many databases, those that tell most first. `is_whole` says that all small ones are tried anyway.
pub(super) fn some<'s>(subject: &'s Subject, today: i64, budget: usize, is_whole: bool) -> Around<'s> {
    let mut counts = BTreeMap::new();
    for (at, table) in subject.tables.iter().enumerate() {
        if let Some(occurrences) = subject.reading.seats.get(&table.name) {
            counts.insert(at, occurrences + 1);
        }
    }
    let scene = Scene::new(subject, &counts, today);
    let mut maker = Maker { scene: &scene, counts: &counts, seen: BTreeSet::new(), made: Vec::new(), most: budget };
    let bases = maker.bases();
    let twins: Vec<usize> = counts.keys().copied().collect();
    for base in &bases {
        maker.push(base.picks.clone());
        for table in &twins {
            maker.push(maker.with_twin(&base.picks, *table));
        }
        maker.push(twins.iter().fold(base.picks.clone(), |picks, table| maker.with_twin(&picks, *table)));
    }
    for tier in [Tier::Core, Tier::More] {
        for (at, base) in bases.iter().enumerate() {
            let slots: Vec<usize> = (0..scene.slots.len()).filter(|slot| at == 0 || base.own.contains(slot)).collect();
            maker.singles(&base.picks, &slots, tier);
            for table in &twins {
                let picks = maker.with_twin(&base.picks, *table);
                let slots: Vec<usize> = (0..scene.slots.len()).filter(|slot| {
                    maker.is_of(*slot, *table) && (at == 0 || base.own.contains(slot) || maker.is_of_twin(*slot, *table))
                }).collect();
                maker.singles(&picks, &slots, tier);
            }
        }
    }
    let mut random = Random::new(1, &subject.name, 0);
    let pairs = maker.pairs(&bases, &twins, &mut random);
    if !is_whole {
        maker.several(&bases, &twins, &mut random);
    }
    let ordinary = std::mem::take(&mut maker.made);
    maker.most = budget / 4;
    for base in &bases {
        let all: Vec<usize> = (0..scene.slots.len()).collect();
        maker.singles(&base.picks, &all, Tier::Edge);
        for table in &twins {
            let picks = maker.with_twin(&base.picks, *table);
            let twin: Vec<usize> = all.iter().copied().filter(|slot| maker.is_of_twin(*slot, *table)).collect();
            maker.singles(&picks, &twin, Tier::Edge);
        }
    }
    let edges = std::mem::take(&mut maker.made);
    let rows = counts.values().copied().max().unwrap_or(0);
    Around { scene, ordinary, edges, pairs, rows }
}

struct Maker<'a, 's> {
    scene: &'a Scene<'s>,
    counts: &'a BTreeMap<usize, usize>,
    seen: BTreeSet<Picks>,
    made: Vec<Picks>,
    most: usize,
}

impl Maker<'_, '_> {
    fn bases(&self) -> Vec<Base> {
        let is_repeated = self.counts.values().any(|count| *count > 2);
        let mut bases: Vec<Base> = Vec::new();
        for is_merged in [true, false].into_iter().filter(|is_merged| *is_merged || is_repeated) {
            for tree in &self.scene.subject.reading.trees {
                let goals = goals::of(self.scene, tree, is_merged);
                let common: BTreeSet<usize> = BTreeSet::new();
                for (at, goal) in goals.iter().enumerate() {
                    let seats = |seat: usize| {
                        let of = self.scene.seats[seat];
                        let twin = self.counts.get(&of.table).map_or(0, |count| count - 1);
                        if is_merged { of.number == 0 } else { of.number < twin }
                    };
                    let mut picks = solve(self.scene, goal, &seats);
                    self.copy_to_twins(&mut picks);
                    let own = if at == 0 { common.clone() } else { own(&goals[0], goal) };
                    let known = bases.iter_mut().find(|base| base.picks == picks);
                    match known {
                        Some(base) => base.own.extend(own),
                        None => bases.push(Base { picks, own }),
                    }
                }
            }
        }
        bases.truncate(BASES);
        bases
    }

    /// Twins are there when they are asked for, and are what the first row of their table is.
    fn copy_to_twins(&self, picks: &mut Picks) {
        for (at, slot) in self.scene.slots.iter().enumerate() {
            let from = match &slot.spot {
                Spot::Here(seat) if self.is_twin(*seat) => {
                    picks[at] = 1;
                    continue;
                }
                Spot::Cell(seat, column) if self.is_twin(*seat) => Spot::Cell(self.first(*seat), *column),
                Spot::Member(seat, column, path) if self.is_twin(*seat) => {
                    Spot::Member(self.first(*seat), *column, path.clone())
                }
                Spot::Entry(1) => {
                    picks[at] = 1;
                    continue;
                }
                Spot::Field(1, field) => Spot::Field(0, *field),
                _ => continue,
            };
            if let Some(from) = self.scene.at.get(&from) {
                picks[at] = picks[*from];
            }
        }
    }

    fn is_twin(&self, seat: usize) -> bool {
        let of = self.scene.seats[seat];
        self.counts.get(&of.table).is_some_and(|count| of.number + 1 == *count)
    }

    fn first(&self, seat: usize) -> usize {
        let table = self.scene.seats[seat].table;
        self.scene.seats.iter().position(|of| of.table == table).unwrap_or(seat)
    }

    fn with_twin(&self, picks: &Picks, table: usize) -> Picks {
        let mut picks = picks.clone();
        for (at, slot) in self.scene.slots.iter().enumerate() {
            let is_it = match slot.spot {
                Spot::Here(seat) => self.scene.seats[seat].table == table && self.is_twin(seat),
                Spot::Entry(1) => true,
                _ => false,
            };
            if is_it {
                picks[at] = 0;
            }
        }
        picks
    }

    fn seat_of(&self, slot: usize) -> Option<usize> {
        match &self.scene.slots[slot].spot {
            Spot::Here(seat) | Spot::Cell(seat, _) | Spot::Member(seat, ..) => Some(*seat),
            _ => None,
        }
    }

    /// Whether a slot is of no row, or of one of the table.
    fn is_of(&self, slot: usize, table: usize) -> bool {
        self.seat_of(slot).is_none_or(|seat| self.scene.seats[seat].table == table)
    }

    fn is_of_twin(&self, slot: usize, table: usize) -> bool {
        let is_field = matches!(self.scene.slots[slot].spot, Spot::Field(1, _));
        is_field || self.seat_of(slot).is_some_and(|seat| self.scene.seats[seat].table == table && self.is_twin(seat))
    }

    /// Whether it matters what is picked in a slot: of a row that is not there nothing does.
    fn matters(&self, picks: &Picks, slot: usize) -> bool {
        match &self.scene.slots[slot].spot {
            Spot::Cell(seat, _) | Spot::Member(seat, ..) => {
                self.scene.at.get(&Spot::Here(*seat)).is_none_or(|here| picks[*here] == 0)
            }
            Spot::Field(entry, _) => self.scene.at.get(&Spot::Entry(*entry)).is_none_or(|here| picks[*here] == 0),
            _ => true,
        }
    }

    fn push(&mut self, picks: Picks) {
        if self.made.len() < self.most && self.seen.insert(picks.clone()) {
            self.made.push(picks);
        }
    }

    /// The other picks of a slot of a tier.
    fn others(&self, picks: &Picks, slot: usize, tier: Tier) -> Vec<u16> {
        if !self.matters(picks, slot) {
            return Vec::new();
        }
        let choices = self.scene.slots[slot].choices.iter().enumerate();
        let of_tier = choices.filter(|(_, choice)| choice.tier == tier).filter_map(|(at, _)| u16::try_from(at).ok());
        of_tier.filter(|pick| *pick != picks[slot]).collect()
    }

    /// One place at a time holds something else.
    fn singles(&mut self, picks: &Picks, slots: &[usize], tier: Tier) {
        for &slot in slots {
            for pick in self.others(picks, slot, tier) {
                let mut next = picks.clone();
                next[slot] = pick;
                self.push(next);
            }
        }
    }

    /// Two places at a time. Whether every two values of the core met.
    fn pairs(&mut self, bases: &[Base], twins: &[usize], random: &mut Random) -> bool {
        let mut is_whole = true;
        let mut lists: Vec<Vec<Picks>> = Vec::new();
        for (at, base) in bases.iter().enumerate() {
            let mut of_base = self.of_two(&base.picks, |_, _| true);
            for table in twins {
                let picks = self.with_twin(&base.picks, *table);
                of_base.extend(self.of_two(&picks, |one, other| self.is_of_twin(one, *table) || self.is_of_twin(other, *table)));
            }
            if at == 0 && of_base.len() > self.most.saturating_sub(self.made.len()) {
                is_whole = false;
            }
            for place in (1..of_base.len()).rev() {
                of_base.swap(place, random.below(place + 1));
            }
            lists.push(of_base);
        }
        // The first one has every other turn.
        let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
        let Some((first, rest)) = lists.split_first_mut() else { return is_whole };
        let mut turn = 0;
        while self.made.len() < self.most {
            let mut next = first.next();
            if turn % 2 == 1 || next.is_none() {
                let others = (0..rest.len()).find_map(|at| rest[(turn / 2 + at) % rest.len()].next());
                if let (Some(kept), Some(_)) = (next.take(), &others) {
                    self.push(kept);
                }
                next = others.or(next);
            }
            turn += 1;
            match next {
                Some(picks) => self.push(picks),
                None => break,
            }
        }
        is_whole
    }

    fn of_two(&self, picks: &Picks, is_wanted: impl Fn(usize, usize) -> bool) -> Vec<Picks> {
        let mut all = Vec::new();
        let count = self.scene.slots.len();
        for one in 0..count {
            let ones = self.others(picks, one, Tier::Core);
            for other in (one + 1..count).filter(|other| !ones.is_empty() && is_wanted(one, *other)) {
                for second in self.others(picks, other, Tier::Core) {
                    for first in &ones {
                        let mut next = picks.clone();
                        (next[one], next[other]) = (*first, second);
                        all.push(next);
                    }
                }
            }
        }
        all
    }

    /// Several places at a time, until there are enough.
    fn several(&mut self, bases: &[Base], twins: &[usize], random: &mut Random) {
        for _ in 0..self.most {
            if self.made.len() >= self.most {
                break;
            }
            let Some(base) = random.pick(bases) else { break };
            let mut picks = base.picks.clone();
            for table in twins {
                if random.percent(40) {
                    picks = self.with_twin(&picks, *table);
                }
            }
            for slot in 0..self.scene.slots.len() {
                if !random.percent(20) {
                    continue;
                }
                let tier = if random.percent(75) { Tier::Core } else { Tier::More };
                if let Some(pick) = random.pick(&self.others(&picks, slot, tier)) {
                    picks[slot] = *pick;
                }
            }
            self.push(picks);
        }
    }
}

/// The slots of which an alternative speaks beside what is wanted anyway.
fn own(whole: &goals::Goal, goal: &goals::Goal) -> BTreeSet<usize> {
    let terms = goal.terms.iter().filter(|term| !whole.terms.contains(term));
    terms.flat_map(super::term::Term::slots).collect()
}
