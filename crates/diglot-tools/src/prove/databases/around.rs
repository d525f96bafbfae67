//! Databases around those in which every condition holds: one place changed, then two, then several.

use std::collections::{BTreeMap, BTreeSet};

use super::goals;
use super::scene::{Picks, Scene, Spot};
use super::solve::solve;
use crate::prove::domain::Tier;
use crate::prove::random::Random;
use crate::prove::subject::Subject;
use crate::prove::uses::Key;
use diglot::value::Value;

/// From how many databases in which conditions hold the others are made.
const BASES: usize = 16;

/// A database in which conditions hold, and the slots that its own alternative speaks of.
struct Base {
    picks: Picks,
    /// None of them where all places are of its own.
    own: Option<BTreeSet<usize>>,
}

impl Base {
    fn has(&self, slot: usize) -> bool {
        self.own.as_ref().is_none_or(|own| own.contains(&slot))
    }
}

/// What can be made by changing two places at a time, by number: there may be millions, and few are made.
#[derive(Default)]
struct Twos {
    starts: Vec<Picks>,
    /// For each two places the number behind the last one, from which of the starts it is made, and the places.
    ends: Vec<(usize, usize, usize, usize)>,
    count: usize,
}

/// What was made.
pub(super) struct Around<'s> {
    pub(super) scene: Scene<'s>,
    pub(super) ordinary: Vec<Picks>,
    /// In how many of these at the beginning one place alone holds something else.
    pub(super) steady: usize,
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
    // Nothing is there at first.
    if let Some(base) = bases.first() {
        let mut empty = base.picks.clone();
        for (at, slot) in scene.slots.iter().enumerate().filter(|(_, slot)| matches!(slot.spot, Spot::Here(_))) {
            empty[at] = u16::from(slot.choices.len() > 1);
        }
        maker.push(empty);
    }
    for base in &bases {
        maker.push(base.picks.clone());
        for table in &twins {
            maker.push(maker.with_twin(&base.picks, *table));
        }
        maker.push(twins.iter().fold(base.picks.clone(), |picks, table| maker.with_twin(&picks, *table)));
    }
    for tier in [Tier::Core, Tier::More] {
        for base in &bases {
            let slots: Vec<usize> = (0..scene.slots.len()).filter(|slot| base.has(*slot)).collect();
            maker.singles(&base.picks, &slots, tier);
            for table in &twins {
                let picks = maker.with_twin(&base.picks, *table);
                let slots: Vec<usize> = (0..scene.slots.len())
                    .filter(|slot| maker.is_of(*slot, *table) && (base.has(*slot) || maker.is_of_twin(*slot, *table)))
                    .collect();
                maker.singles(&picks, &slots, tier);
            }
        }
    }
    for base in bases.iter().filter(|base| base.own.is_none()) {
        for both in &scene.met {
            let mut picks = base.picks.clone();
            both.iter().for_each(|(slot, pick)| picks[*slot] = *pick);
            maker.push(picks);
        }
    }
    let steady = maker.made.len();
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
    Around { scene, ordinary, steady, edges, pairs, rows }
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
                for (at, goal) in goals.iter().enumerate() {
                    let seats = |seat: usize| {
                        let of = self.scene.seats[seat];
                        let twin = self.counts.get(&of.table).map_or(0, |count| count - 1);
                        if is_merged { of.number == 0 } else { of.number < twin }
                    };
                    let mut picks = solve(self.scene, goal, &seats);
                    self.copy_to_twins(&mut picks);
                    let own = (at > 0).then(|| own(&goals[0], goal));
                    match (bases.iter_mut().find(|base| base.picks == picks), own) {
                        (Some(Base { own: Some(known), .. }), Some(own)) => known.extend(own),
                        (Some(base), None) => base.own = None,
                        (Some(_), _) => {}
                        (None, own) => bases.push(Base { picks, own }),
                    }
                }
            }
        }
        bases.truncate(BASES);
        let worlds =
            bases.iter().filter(|base| base.own.is_none()).map(|base| self.world(&base.picks)).collect::<Vec<_>>();
        bases.extend(worlds.into_iter().map(|picks| Base { picks, own: None }));
        self.crowded(&mut bases);
        bases
    }

    /// The pools of the keys of one column by which rows of these tables are told apart.
    fn key_pools(&self) -> BTreeSet<usize> {
        let tables = self.counts.keys().map(|at| &self.scene.subject.tables[*at]);
        let keys = tables.flat_map(|table| {
            let single = table.unique.iter().filter_map(|key| match key.as_slice() {
                [only] => Some(only),
                _ => None,
            });
            single.map(|column| Key::Column(table.name.clone(), column.clone()))
        });
        keys.filter_map(|key| self.scene.subject.pool_of.get(&key).copied()).collect()
    }

    /// A second copy of all rows beside the first: they refer to each other, under other keys.
    fn world(&self, picks: &Picks) -> Picks {
        let pools = self.key_pools();
        let mut picks = picks.clone();
        let mut turned: BTreeMap<usize, Value> = BTreeMap::new();
        for (at, slot) in self.scene.slots.iter().enumerate() {
            let (seat, column) = match slot.spot {
                Spot::Here(seat) if self.is_twin(seat) => {
                    picks[at] = 0;
                    continue;
                }
                Spot::Cell(seat, column) if self.is_twin(seat) => (seat, column),
                _ => continue,
            };
            let table = &self.scene.subject.tables[self.scene.seats[seat].table];
            let key = Key::Column(table.name.clone(), table.columns[column].name.clone());
            let Some(pool) = self.scene.subject.pool_of.get(&key).filter(|pool| pools.contains(*pool)) else {
                continue;
            };
            let first = self.scene.at.get(&Spot::Cell(self.first(seat), column)).map(|at| picks[*at]).unwrap_or(0);
            let values = || (0..).zip(&slot.choices).filter(|(_, choice)| choice.tier == Tier::Core);
            let other = values().filter(|(pick, _)| *pick != first).find_map(|(_, choice)| match &choice.value {
                Some(Value::Null) | None => None,
                Some(value) => Some(value.clone()),
            });
            let Some(other) = turned.get(pool).cloned().or(other) else { continue };
            if let Some((pick, _)) = values().find(|(_, choice)| choice.value.as_ref() == Some(&other)) {
                picks[at] = pick;
            }
            turned.entry(*pool).or_insert(other);
        }
        picks
    }

    /// Where something counts rows, there are as many as it counts, and one more or less.
    fn crowded(&self, bases: &mut Vec<Base>) {
        let whole: Vec<Picks> = bases.iter().filter(|base| base.own.is_none()).map(|base| base.picks.clone()).collect();
        let mut crowded = Vec::new();
        for picks in &whole {
            for (at, slot) in self.scene.slots.iter().enumerate() {
                let Spot::Crowd(_) = slot.spot else { continue };
                for (pick, choice) in (0..).zip(&slot.choices).skip(1) {
                    let mut picks = picks.clone();
                    picks[at] = pick;
                    // Many rows cost much: they are there to be counted, and nothing else of them changes.
                    let is_few = matches!(choice.value, Some(Value::Int(..=10)));
                    let own = (!is_few).then(BTreeSet::new);
                    crowded.push(Base { picks, own });
                }
            }
        }
        bases.extend(crowded);
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
            let Some(from) = self.scene.at.get(&from) else { continue };
            picks[at] = picks[*from];
            // A row's own key is another one, and one that others can refer to.
            if let Spot::Cell(seat, column) = slot.spot {
                let table = &self.scene.subject.tables[self.scene.seats[seat].table];
                let name = &table.columns[column].name;
                let is_key = table.unique.iter().any(|key| matches!(key.as_slice(), [only] if only == name));
                let is_foreign = table.foreign.iter().any(|key| key.columns.contains(name));
                let other = (0..).zip(&slot.choices).find(|(pick, choice)| {
                    let is_value = choice.value.as_ref().is_some_and(|value| *value != Value::Null);
                    *pick != picks[at] && choice.tier == Tier::Core && is_value
                });
                if let (Some((pick, _)), true) = (other, is_key && !is_foreign) {
                    picks[at] = pick;
                }
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
            let mut twos = Twos::default();
            self.of_two(base.picks.clone(), |_, _| true, &mut twos);
            for table in twins {
                let picks = self.with_twin(&base.picks, *table);
                let is_wanted = |one, other| self.is_of_twin(one, *table) || self.is_of_twin(other, *table);
                self.of_two(picks, is_wanted, &mut twos);
            }
            let open = self.most.saturating_sub(self.made.len());
            if at == 0 && twos.count > open {
                is_whole = false;
            }
            let chosen = random.some(twos.count, open);
            lists.push(chosen.into_iter().filter_map(|at| self.two(&twos, at)).collect());
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

    /// Counts what can be made of picks in which two places hold something else.
    fn of_two(&self, picks: Picks, is_wanted: impl Fn(usize, usize) -> bool, twos: &mut Twos) {
        let count = self.scene.slots.len();
        let others: Vec<usize> = (0..count).map(|slot| self.others(&picks, slot, Tier::Core).len()).collect();
        for one in (0..count).filter(|one| others[*one] > 0) {
            for other in (one + 1..count).filter(|other| others[*other] > 0 && is_wanted(one, *other)) {
                twos.count += others[one] * others[other];
                twos.ends.push((twos.count, twos.starts.len(), one, other));
            }
        }
        twos.starts.push(picks);
    }

    /// The picks of a number.
    fn two(&self, twos: &Twos, number: usize) -> Option<Picks> {
        let (end, start, one, other) = *twos.ends.get(twos.ends.partition_point(|(end, ..)| *end <= number))?;
        let mut picks = twos.starts[start].clone();
        let (firsts, seconds) = (self.others(&picks, one, Tier::Core), self.others(&picks, other, Tier::Core));
        let place = end - 1 - number;
        (picks[one], picks[other]) = (firsts[place % firsts.len()], seconds[place / firsts.len()]);
        Some(picks)
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
