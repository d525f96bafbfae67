//! What a page computes of one place and holds against another: SQLite itself says what that comes to, and the other place
//! is tried with it and with what lies beside it, each together with the value that it was computed of.

use super::scene::{Scene, Spot};
use crate::prove::domain::{Choices, Tier, around};
use crate::prove::reading::Computation;
use crate::prove::uses::Key;
use diglot::types::Base;
use diglot::value::{Value, canonical};

/// Of how many values of a place something is computed.
const COMPUTED: usize = 24;

/// A slot with its type, and with what SQLite holds there.
struct Held {
    slot: usize,
    base: Base,
    sqlite: Base,
}

impl Scene<'_> {
    /// Has places hold what is computed of others. A parameter, and a column of which nothing else is known, holds what
    /// comes of the first value first, which makes the condition hold.
    pub(super) fn computed(&mut self) {
        let mut met: Vec<[(usize, Value); 2]> = Vec::new();
        let subject = self.subject;
        for computation in &subject.reading.computations {
            let Some(of) = self.held(&computation.of, None) else { continue };
            let Some(against) = self.held(&computation.against, Some(of.slot)) else { continue };
            self.compute(computation, &of, &against, &mut met);
        }
        let pick = |(slot, value): &(usize, Value)| {
            let mut picks = (0..).zip(&self.slots[*slot].choices);
            picks.find(|(_, choice)| choice.value.as_ref() == Some(value)).map(|(pick, _)| (*slot, pick))
        };
        self.met = met.iter().filter_map(|[of, against]| Some([pick(of)?, pick(against)?])).collect();
    }

    fn compute(&mut self, from: &Computation, of: &Held, against: &Held, met: &mut Vec<[(usize, Value); 2]>) {
        let subject = self.subject;
        let pool = subject.pool(&from.against);
        let column = match &from.against {
            Key::Column(table, name) => {
                let table = subject.tables.iter().find(|known| known.name == *table);
                table.and_then(|table| Some((table, table.columns.iter().find(|known| known.name == *name)?)))
            }
            _ => None,
        };
        let is_allowed = |value: &Value| {
            pool.allows(value) && column.is_none_or(|(table, column)| subject.checks.allow(&table.name, column, value))
        };
        let is_first = column.is_none() || pool.literals.is_empty() && pool.words.is_empty();
        let mut values: Vec<(Tier, Value)> = self.slots[of.slot]
            .choices
            .iter()
            .filter_map(|choice| {
                let value = choice.value.clone().filter(|value| *value != Value::Null);
                Some((choice.tier, value?)).filter(|(tier, _)| *tier != Tier::Edge)
            })
            .collect();
        values.sort_by_key(|(tier, _)| *tier);
        values.truncate(COMPUTED);
        let (mut all, mut beside) = (Choices::default(), Vec::new());
        for (tier, value) in values {
            let result = subject.checks.computed(&of.sqlite, &value, from);
            let result = result.and_then(|result| match against.sqlite.stored() {
                Some(stored) => canonical(&result, stored),
                None => result.into_base(&against.base),
            });
            for (at, result) in result.into_iter().flat_map(|it| around(it, &against.base)).enumerate() {
                if !is_allowed(&result) {
                    continue;
                }
                if is_first && tier == Tier::Core && at == 0 {
                    all.push(Tier::Core, Some(result.clone()));
                }
                beside.push([(of.slot, value.clone()), (against.slot, result)]);
            }
        }
        let known = std::mem::take(&mut self.slots[against.slot].choices);
        known.into_iter().for_each(|choice| all.push(choice.tier, choice.value));
        beside.iter().for_each(|[_, (_, value)]| all.push(Tier::More, Some(value.clone())));
        self.slots[against.slot].choices = all.0;
        met.extend(beside);
    }

    /// What holds a place, in another row than that of a slot.
    fn held(&self, key: &Key, apart: Option<usize>) -> Option<Held> {
        let seat = |slot: usize| match self.slots[slot].spot {
            Spot::Cell(seat, _) => Some(seat),
            _ => None,
        };
        let (spot, base, sqlite) = match key {
            Key::Param(name) => {
                let base = self.subject.params.iter().find(|param| param.name == *name)?.ty.base.clone();
                let plain = base.stored().map_or_else(|| base.clone(), |stored| stored.of.base());
                (Spot::Arg(name.clone()), plain, base)
            }
            Key::Column(table, column) => {
                let apart = apart.and_then(seat);
                let of_table = |at: &usize| self.subject.tables[self.seats[*at].table].name == *table;
                let seat = (0..self.seats.len()).filter(of_table).find(|at| Some(*at) != apart)?;
                let columns = &self.subject.tables[self.seats[seat].table].columns;
                let at = columns.iter().position(|known| known.name == *column)?;
                (Spot::Cell(seat, at), columns[at].base.clone(), columns[at].sqlite.clone()?)
            }
            Key::Json(..) => return None,
        };
        Some(Held { slot: *self.at.get(&spot)?, base, sqlite })
    }
}
