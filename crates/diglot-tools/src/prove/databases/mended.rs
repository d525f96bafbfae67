//! Rows of a scene that keep to CHECKs over several columns.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::scene::{Picks, Scene, Spot};
use crate::prove::cases::Row;
use crate::prove::checks::Moves;
use crate::prove::domain::Tier;
use crate::prove::tables::Table;
use crate::prove::uses::Key;
use diglot::value::Value;

/// What was found for rows that did not keep to them, by what the conditions look at.
pub(super) type Mended = RefCell<BTreeMap<String, Row>>;

impl Scene<'_> {
    /// A row with other values where a CHECK over several columns asks for them: where nothing was picked before where
    /// something was, so that what is tried in one place stays there.
    pub(super) fn mended(&self, picks: &Picks, seat: Option<usize>, table: &Table, mut row: Row) -> Row {
        let checks = &self.subject.checks;
        if !checks.has_joints(&table.name) {
            return row;
        }
        let (order, loose) = self.willing(picks, seat, table);
        let known = format!("{} {order:?} {:?}", table.name, checks.looked_at(&table.name, &row));
        if let Some(changes) = self.known_mended.borrow().get(&known) {
            row.extend(changes.clone());
            return row;
        }
        let values = |at: usize| self.ordinary(seat, at);
        let before = row.clone();
        checks.mend(table, &mut row, &Moves { order, loose, values: &values });
        let changes = row.iter().filter(|(name, value)| before.get(*name) != Some(value));
        let changes = changes.map(|(name, value)| (name.clone(), value.clone())).collect();
        self.known_mended.borrow_mut().insert(known, changes);
        row
    }

    /// The columns of a row that may change, the freest first, and of how many of them neither a page nor a key knows anything.
    fn willing(&self, picks: &Picks, seat: Option<usize>, table: &Table) -> (Vec<usize>, usize) {
        let columns = table.columns.iter().enumerate();
        let open = columns.filter(|(_, column)| {
            let is_one_of_a_key =
                table.unique.iter().any(|key| matches!(key.as_slice(), [only] if *only == column.name));
            !column.numbered && column.computed.is_none() && !column.is_one_sided() && !is_one_of_a_key
        });
        let weight = |at: usize| {
            let column = &table.columns[at];
            let is_foreign = table.foreign.iter().any(|key| key.columns.contains(&column.name));
            let slot = seat.and_then(|seat| self.at.get(&Spot::Cell(seat, at)));
            let is_picked = slot.is_some_and(|slot| picks.get(*slot).is_some_and(|pick| *pick != 0));
            (is_foreign, is_picked, self.subject.is_free(&Key::Column(table.name.clone(), column.name.clone())))
        };
        let mut order: Vec<usize> = open.map(|(at, _)| at).collect();
        order.sort_by_key(|at| weight(*at));
        let loose = order.iter().take_while(|at| weight(**at) == (false, false, false)).count();
        (order, loose)
    }

    /// What few programs would wonder at in a place of a row.
    fn ordinary(&self, seat: Option<usize>, at: usize) -> Vec<Value> {
        let slot = seat.and_then(|seat| self.at.get(&Spot::Cell(seat, at))).map(|slot| &self.slots[*slot]);
        let choices = slot.into_iter().flat_map(|slot| &slot.choices).filter(|choice| choice.tier != Tier::Edge);
        choices.filter_map(|choice| choice.value.clone()).filter(|value| *value != Value::Null).collect()
    }
}
