//! What a page computes of a column and holds against a parameter: SQLite itself says what that comes to, and the parameter
//! is tried with it.

use super::scene::{Scene, Spot, core};
use crate::prove::domain::{Choice, Choices, Tier};
use crate::prove::reading::Computation;
use crate::prove::uses::Key;
use diglot::value::Value;

/// How many values of a column are computed with.
const COMPUTED: usize = 6;

impl Scene<'_> {
    /// Has parameters hold what is computed of the first rows: of the first value first, which makes the condition hold.
    pub(super) fn computed(&mut self) {
        let subject = self.subject;
        for computation in &subject.reading.computations {
            let Some(at) = self.at.get(&Spot::Arg(computation.param.clone())).copied() else { continue };
            let Some(param) = subject.params.iter().find(|param| param.name == computation.param) else { continue };
            let values = self.results(computation).into_iter().filter_map(|value| value.into_base(&param.ty.base));
            let pool = subject.pool(&Key::Param(param.name.clone()));
            let known = std::mem::take(&mut self.slots[at].choices);
            let mut choices = Choices::default();
            for Choice { value, tier } in values.filter(|value| pool.allows(value)).map(core).chain(known) {
                choices.push(tier, value);
            }
            self.slots[at].choices = choices.0;
        }
    }

    /// What is computed of the values of a column.
    fn results(&self, computation: &Computation) -> Vec<Value> {
        let (table, column) = &computation.column;
        let place = self.subject.tables.iter().enumerate().find_map(|(at, known)| {
            let column = known.columns.iter().position(|known| known.name == *column)?;
            (known.name == *table).then_some((at, column))
        });
        let Some((table, column)) = place else { return Vec::new() };
        let seat = self.seats.iter().position(|seat| seat.table == table && seat.number == 0);
        let slot = seat.and_then(|seat| self.at.get(&Spot::Cell(seat, column)));
        let choices = slot.into_iter().flat_map(|slot| &self.slots[*slot].choices);
        let ordinary = choices.filter(|choice| choice.tier == Tier::Core).filter_map(|choice| choice.value.as_ref());
        let held = &self.subject.tables[table].columns[column];
        ordinary.take(COMPUTED).filter_map(|value| self.subject.checks.computed(held, value, computation)).collect()
    }
}
