//! Times of the run: what both engines read from their clocks is the same, though not to the microsecond.

use std::collections::BTreeMap;

use super::compare::{NEW_IDS, NEW_IDS_END};
use diglot::types::Base;
use diglot::value::{Rows, Value, microseconds};

/// The beginning of 2025, and that of 2100, in seconds since 1970. Data that is tried lies before or behind, but for days
/// around the run for the sake of clocks.
const CLOCKS: std::ops::Range<i64> = 1_735_689_600..4_102_444_800;

/// The day of the Julian calendar on which 1970 begins.
const EPOCH_DAY: f64 = 2_440_587.5;

/// How long both engines may take for one case, in microseconds. Pages whose times are further apart differ.
const RUN: i64 = 600_000_000;

/// A way in which a time is written; times in two ways are never the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Manner {
    /// A number of so many microseconds.
    Unit(i64),
    /// A number of days.
    Julian,
    /// A text, with zeros for its digits; a time that its reader writes in one way has nothing more.
    Text(String),
}

/// Whether a reader of such values writes times in one way.
pub(super) fn is_time(base: &Base) -> bool {
    base.stored().map_or_else(|| base.is_time(), |stored| stored.of.base().is_time())
}

/// Makes times that lie as close to each other as both runs the first of them, in all rows of both answers. `is_time` says
/// of a column whether its reader writes times in one way.
pub(super) fn settle(answers: [&mut Rows; 2], is_time: impl Fn(usize) -> bool) {
    let mut first: BTreeMap<Manner, BTreeMap<i64, Value>> = BTreeMap::new();
    for rows in &answers {
        for (at, value) in rows.iter().flat_map(|row| row.iter().enumerate()) {
            if let Some((manner, moment)) = moment(value, is_time(at)) {
                first.entry(manner).or_default().entry(moment).or_insert_with(|| value.clone());
            }
        }
    }
    for moments in first.values_mut() {
        let mut before: Option<(i64, Value)> = None;
        for (moment, value) in moments {
            match &before {
                Some((last, kept)) if moment - last <= RUN => *value = kept.clone(),
                _ => {}
            }
            before = Some((*moment, value.clone()));
        }
    }
    for rows in answers {
        for (at, value) in rows.iter_mut().flat_map(|row| row.iter_mut().enumerate()) {
            let known = moment(value, is_time(at)).and_then(|(manner, moment)| first.get(&manner)?.get(&moment));
            if let Some(kept) = known {
                *value = kept.clone();
            }
        }
    }
}

/// The microseconds since 1970 of a value that may be a time of the run, and how it is written.
fn moment(value: &Value, is_time: bool) -> Option<(Manner, i64)> {
    let is_late = |micros: &i64| CLOCKS.contains(&micros.div_euclid(1_000_000));
    match value {
        Value::Int(n) if (NEW_IDS..NEW_IDS_END).contains(n) => None,
        Value::Int(n) => [1_000_000, 1_000, 1].into_iter().find_map(|unit| {
            let micros = n.checked_mul(unit).filter(is_late)?;
            Some((Manner::Unit(unit), micros))
        }),
        Value::Real(x) => {
            let of_days = (x - EPOCH_DAY) * 86_400.0 * 1e6;
            let of = |micros: f64| Some(micros as i64).filter(is_late);
            of(of_days).map(|micros| (Manner::Julian, micros)).or_else(|| {
                [1_000_000, 1_000, 1].into_iter().find_map(|unit| Some((Manner::Unit(unit), of(x * unit as f64)?)))
            })
        }
        Value::Text(text) => {
            let micros = microseconds(text).filter(is_late)?;
            let zeros = || text.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
            Some((Manner::Text(if is_time { String::new() } else { zeros() }), micros))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether both values are the same where the clock is read.
    fn is_same(ours: Value, theirs: Value, is_time: bool) -> bool {
        let (mut ours, mut theirs) = (vec![vec![ours]], vec![vec![theirs]]);
        settle([&mut ours, &mut theirs], |_| is_time);
        ours == theirs
    }

    #[test]
    fn one_event_has_one_time_on_both_engines() {
        let int = |n| Value::Int(n);
        assert!(is_same(int(1_796_043_507_420), int(1_796_043_507_422), false));
        assert!(is_same(int(1_796_043_507), int(1_796_043_508), false));
        assert!(is_same(Value::Real(2_461_374.8), Value::Real(2_461_374.800_001), false));
        let text = |text: &str| Value::Text(text.into());
        assert!(is_same(text("2026-11-30 12:00:59"), text("2026-11-30 12:01:00"), false));
        assert!(is_same(text("2026-11-30 12:00:00.5"), text("2026-11-30 12:00:00.512"), true));
    }

    #[test]
    fn times_of_two_events_data_and_other_forms_stay_as_they_are() {
        let int = |n| Value::Int(n);
        assert!(!is_same(int(1_796_043_507_420), int(1_796_043_507_420 + 3_600_000), false), "an hour later");
        assert!(!is_same(int(1_500_000_000_000), int(1_500_000_000_001), false), "before every clock");
        assert!(!is_same(int(1_796_043_507), int(1_796_043_507_000), false), "in another unit");
        assert!(!is_same(int(NEW_IDS), int(NEW_IDS + 1), false), "new numbers");
        let text = |text: &str| Value::Text(text.into());
        assert!(!is_same(text("2026-11-30 12:00:00"), text("2026-11-30T12:00:00Z"), false), "in another form");
    }
}
