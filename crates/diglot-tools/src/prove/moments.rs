//! Times of the run: what both engines read from their clocks is the same, though not to the microsecond.

use std::collections::BTreeMap;

use super::compare::{NEW_IDS, NEW_IDS_END};
use diglot::types::Base;
use diglot::value::{Rows, Value, microseconds};

/// The beginning of 2025, and that of 2040, in seconds since 1970. Data that is tried lies before or behind, but for days
/// around the run for the sake of clocks; so do spans of some weeks in milliseconds.
const CLOCKS: std::ops::Range<i64> = 1_735_689_600..2_208_988_800;

/// The day of the Julian calendar on which 1970 begins.
const EPOCH_DAY: f64 = 2_440_587.5;

/// How long both engines may take for one case, in microseconds. Pages whose times are further apart differ.
const RUN: i64 = 600_000_000;

/// What part of itself a span of time up to the run may be longer on one engine.
const OF_SPAN: f64 = 0.002;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// Times that its reader writes in one way.
    Time,
    /// What a page works out of the clock: a number may be how long ago something was.
    Clocked,
    /// Something else.
    Other,
}

/// A way in which a time is written; times in two ways are never the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Manner {
    /// A number of so many microseconds.
    Unit(i64),
    /// A number of days.
    Julian,
    /// A span up to the run, in a column.
    Span(usize),
    /// A text, with zeros for its digits; a time that its reader writes in one way has nothing more.
    Text(String),
}

impl Column {
    /// What a column of a type holds, in which a page works something out of the clock or does not.
    pub(super) fn of(base: Option<&Base>, is_clocked: bool) -> Self {
        let is_time = |base: &Base| base.stored().map_or_else(|| base.is_time(), |of| of.of.base().is_time());
        match base {
            Some(base) if is_time(base) => Self::Time,
            _ if is_clocked => Self::Clocked,
            _ => Self::Other,
        }
    }
}

/// Makes times that lie as close to each other as both runs the first of them, in all rows of both answers.
pub(super) fn settle(answers: [&mut Rows; 2], column: impl Fn(usize) -> Column) {
    let mut first: BTreeMap<Manner, BTreeMap<i64, Value>> = BTreeMap::new();
    for rows in &answers {
        for (at, value) in rows.iter().flat_map(|row| row.iter().enumerate()) {
            if let Some((manner, moment)) = moment(value, at, column(at)) {
                first.entry(manner).or_default().entry(moment).or_insert_with(|| value.clone());
            }
        }
    }
    for (manner, moments) in &mut first {
        let mut before: Option<(i64, Value)> = None;
        for (moment, value) in moments {
            match &before {
                Some((last, kept)) if manner.is_one(*last, *moment) => *value = kept.clone(),
                _ => {}
            }
            before = Some((*moment, value.clone()));
        }
    }
    for rows in answers {
        for (at, value) in rows.iter_mut().flat_map(|row| row.iter_mut().enumerate()) {
            let known = moment(value, at, column(at)).and_then(|(manner, moment)| first.get(&manner)?.get(&moment));
            if let Some(kept) = known {
                *value = kept.clone();
            }
        }
    }
}

impl Manner {
    /// Whether two that follow each other may be of one event.
    fn is_one(&self, last: i64, moment: i64) -> bool {
        let most = match self {
            Self::Span(_) => (last.abs().max(moment.abs()) as f64 * OF_SPAN) as i64,
            _ => RUN,
        };
        moment.saturating_sub(last) <= most
    }
}

/// The microseconds since 1970 of a value that may be a time of the run, and how it is written.
fn moment(value: &Value, at: usize, column: Column) -> Option<(Manner, i64)> {
    let span = |of: f64| (column == Column::Clocked).then_some((Manner::Span(at), (of * 1e6) as i64));
    time(value, column == Column::Time).or_else(|| match value {
        Value::Int(n) => span(*n as f64),
        Value::Real(x) => span(*x),
        _ => None,
    })
}

fn time(value: &Value, is_time: bool) -> Option<(Manner, i64)> {
    let is_late = |micros: &i64| CLOCKS.contains(&micros.div_euclid(1_000_000));
    let in_units = |micros: &dyn Fn(i64) -> Option<i64>| {
        [1_000_000, 1_000, 1].into_iter().find_map(|unit| Some((Manner::Unit(unit), micros(unit).filter(is_late)?)))
    };
    match value {
        Value::Int(n) if (NEW_IDS..NEW_IDS_END).contains(n) => None,
        Value::Int(n) => in_units(&|unit| n.checked_mul(unit)),
        Value::Real(x) => {
            let of_days = (x - EPOCH_DAY) * 86_400.0 * 1e6;
            let julian = Some(of_days as i64).filter(is_late).map(|micros| (Manner::Julian, micros));
            julian.or_else(|| in_units(&|unit| Some((x * unit as f64) as i64)))
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

    /// Whether both values are the same in such a column where the clock is read.
    fn is_one(ours: Value, theirs: Value, column: Column) -> bool {
        let (mut ours, mut theirs) = (vec![vec![ours]], vec![vec![theirs]]);
        settle([&mut ours, &mut theirs], |_| column);
        ours == theirs
    }

    fn is_same(ours: Value, theirs: Value, is_time: bool) -> bool {
        is_one(ours, theirs, if is_time { Column::Time } else { Column::Other })
    }

    #[test]
    fn how_long_ago_something_was_is_the_same_up_to_the_time_of_both_runs() {
        let (int, real) = (Value::Int, Value::Real);
        assert!(is_one(int(86_400_120), int(86_400_124), Column::Clocked));
        assert!(is_one(int(2_946_132_000), int(2_946_132_870), Column::Clocked), "some weeks");
        assert!(is_one(real(3600.02), real(3600.03), Column::Clocked));
        assert!(!is_one(int(86_400_120), int(86_400_124), Column::Other));
        assert!(!is_one(int(86_400), int(86_400_000), Column::Clocked), "in another unit");
        assert!(!is_one(int(0), int(3_600), Column::Clocked), "an hour more");
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
