//! Rows that differ in one place alone and have all of its values: what sorts, ranks and groups them shows on three.

use std::collections::BTreeMap;

use super::scene::{Picks, Scene, Slot, Spot, core};
use crate::prove::cases::Row;
use crate::prove::domain::{Choice, Tier};
use diglot::value::Value;

/// Where the numbers of such rows begin, and how many there are at most.
const PARADE: usize = 700;
const PARADED: usize = 12;
/// As many values as two rows hold.
const TWO: usize = 2;

impl Scene<'_> {
    /// The places of a table's first row of which all values can be there at once: an order and the numbers that rows have in
    /// it show on three.
    pub(super) fn parades(&mut self, table: usize) {
        let is_first = |seat: usize| self.seats[seat].table == table && self.seats[seat].number == 0;
        let is_wide = |slot: &Slot| match slot.spot {
            Spot::Cell(seat, _) | Spot::Member(seat, ..) => is_first(seat) && values(slot).count() > TWO,
            _ => false,
        };
        let slots = self.slots.iter().enumerate().filter(|(_, slot)| is_wide(slot)).map(|(at, _)| at);
        let of_slot = |at: usize| Choice { value: Some(Value::Int(i64::try_from(at).unwrap_or(0))), tier: Tier::More };
        let choices: Vec<Choice> = std::iter::once(core(Value::Null)).chain(slots.map(of_slot)).collect();
        if choices.len() > 1 {
            self.add(Spot::Parade(table), choices);
        }
    }

    /// Adds the rows that are picked.
    pub(super) fn paraded(&self, picks: &Picks, rows: &mut BTreeMap<usize, Vec<Row>>) {
        for (at, seat) in self.seats.iter().enumerate().filter(|(_, seat)| seat.number == 0) {
            let Some(own) = rows.get_mut(&seat.table) else { continue };
            let picked = self.picked(picks, &Spot::Parade(seat.table)).and_then(|choice| choice.value.as_ref());
            let Some(Value::Int(slot)) = picked else { continue };
            let Ok(slot) = usize::try_from(*slot) else { continue };
            for (number, pick) in values(&self.slots[slot]).take(PARADED).enumerate() {
                let mut picks = picks.clone();
                picks[slot] = pick;
                own.push(self.made(&picks, at, PARADE + number));
            }
        }
    }
}

/// The ordinary values of a slot, by their picks.
fn values(slot: &Slot) -> impl Iterator<Item = u16> + '_ {
    let choices = (0..).zip(&slot.choices);
    choices.filter(|(_, choice)| choice.tier != Tier::Edge && choice.value.is_some()).map(|(pick, _)| pick)
}
