//! Times: around the bounds, around now, at the ends of days, months and leap years, in every form.

mod parts;

use super::{Choices, Place, Tier};
use crate::prove::uses::Looks;
use diglot::types::Base;
use diglot::value::{Value, microseconds, spelled};

const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;
/// The years that have four digits, as both engines write them.
const WRITTEN: std::ops::Range<i64> = -62_135_596_800 * SECOND..253_402_300_800 * SECOND;
/// What clocks and calendars show, from 1800 to 2900. A page that speaks of other times means that there is no end, or no
/// beginning.
const SHOWN: std::ops::Range<i64> = -5_364_662_400 * SECOND..29_348_006_400 * SECOND;
/// 2024-01-31 12:00:00: the last day of a month, in a leap year, before all clocks.
const ANCHOR: i64 = 1_706_702_400 * SECOND;

/// Columns that are times to either engine.
pub(super) fn add(place: Place<'_>, choices: &mut Choices) {
    for (tier, moment) in moments(place) {
        choices.add(tier, [Value::Text(of_base(moment, place.base))]);
    }
}

/// Texts that a page takes as times: in every form that SQLite writes.
pub(super) fn written(place: Place<'_>, choices: &mut Choices) {
    for (tier, moment) in moments(place) {
        let text = spelled(moment);
        let iso = format!("{}Z", text.replace(' ', "T"));
        choices.add(tier, [Value::Text(text.clone())]);
        choices.add(tier, [Value::Text(iso)]);
        choices.add(Tier::More, [Value::Text(text[..10].to_owned())]);
    }
}

/// Numbers that a page takes as times: seconds and milliseconds.
pub(super) fn counted(place: Place<'_>, choices: &mut Choices) {
    let of = |unit: i64| moments(place).into_iter().map(move |(tier, moment)| (tier, Value::Int(moment / unit)));
    let is_thousand =
        |value: &Value| matches!(value, Value::Int(1_000)) || matches!(value, Value::Real(r) if *r == 1000.0);
    let units = if place.pool.near.iter().any(is_thousand) { [1_000, SECOND] } else { [SECOND, 1_000] };
    for (at, unit) in units.into_iter().enumerate() {
        for (tier, value) in of(unit) {
            choices.add(if at == 0 { tier } else { tier.max(Tier::More) }, value.into_base(place.base));
        }
    }
}

/// A time as its type has it, and those beside it.
pub(super) fn around(text: &str, base: &Base) -> Vec<Value> {
    let step = if *base == Base::Date { DAY } else { SECOND };
    let moments = microseconds(text).into_iter().flat_map(|at| [at, at - step, at + step]);
    moments.filter(|at| WRITTEN.contains(at)).map(|at| Value::Text(of_base(at, base))).collect()
}

fn of_base(moment: i64, base: &Base) -> String {
    let text = spelled(moment);
    match base {
        Base::Date => text[..10].to_owned(),
        Base::TimeOfDay => text[11..].to_owned(),
        _ => text,
    }
}

fn moments(place: Place<'_>) -> Vec<(Tier, i64)> {
    let Place { pool, base, today, .. } = place;
    let looks = pool.looks;
    let step = if *base == Base::Date { DAY } else { SECOND };
    let met = pool.literals.iter().filter_map(moment);
    let (ends, met): (Vec<i64>, Vec<i64>) = met.partition(|moment| place.given && !SHOWN.contains(moment));
    let mut all: Vec<(Tier, i64)> = ends.into_iter().map(|moment| (Tier::Edge, moment)).collect();
    let mut add = |tier: Tier, moments: &[i64]| all.extend(moments.iter().map(|moment| (tier, *moment)));
    for anchor in if met.is_empty() { &[ANCHOR][..] } else { &met } {
        add(Tier::Core, &[*anchor, anchor + step]);
        let tier = if looks.any(Looks::ORDERED | Looks::MOMENT | Looks::SUMMED) { Tier::Core } else { Tier::More };
        add(tier, &[anchor - step]);
    }
    if looks.any(Looks::CLOCK) {
        let day = today * DAY;
        add(Tier::Core, &[day + SECOND, day + DAY - SECOND, day - DAY, day + 2 * DAY]);
        for shift in shifts(place) {
            // What is that far from every time of today, and what is so from some.
            add(Tier::Core, &[day - shift - DAY, day - shift + 2 * DAY]);
            add(
                Tier::More,
                &[day + shift - DAY, day + shift + 2 * DAY, day - shift + SECOND, day - shift + DAY - SECOND],
            );
        }
    }
    if looks.any(Looks::MOMENT | Looks::SUMMED | Looks::CAST | Looks::MEASURED) {
        let start = ANCHOR - 12 * HOUR;
        let (asked, others) = parts::of(&pool.near);
        add(Tier::Core, &asked);
        add(Tier::Core, &[start, start + DAY - SECOND, start + DAY]);
        // A leap day, the end of a year, an hour that has two digits in one zone alone.
        add(
            Tier::More,
            &[start + 29 * DAY, start + 336 * DAY - SECOND, start + 9 * HOUR, start + 5 * DAY + 59 * SECOND],
        );
        for shift in shifts(place) {
            add(Tier::More, &[ANCHOR + shift, ANCHOR - shift, ANCHOR + shift + step, ANCHOR - shift - step]);
            add(Tier::More, &[ANCHOR + shift - step, ANCHOR - shift + step]);
        }
        add(Tier::More, &others);
    }
    if *base != Base::Date && looks.any(Looks::ORDERED | Looks::MOMENT | Looks::EQUAL) {
        add(Tier::Edge, &[ANCHOR + 500_000]);
    }
    add(Tier::More, &[ANCHOR + 40 * DAY]);
    if !looks.is_none() && *base != Base::TimeOfDay {
        // Before 1970 and in the year 9999.
        add(Tier::Edge, &[-DAY, 253_370_764_800 * SECOND]);
    }
    all.retain(|(_, moment)| WRITTEN.contains(moment));
    all
}

fn moment(value: &Value) -> Option<i64> {
    match value {
        Value::Text(text) => microseconds(text),
        _ => None,
    }
}

/// How many ways from a time are tried.
const SHIFTS: usize = 9;

/// How far the page goes from a time: `'-1 day'`, `'2 hours'`, as long as a month or a year may be, and as a number of
/// seconds, milliseconds or days.
fn shifts(place: Place<'_>) -> Vec<i64> {
    let of = |value: &Value| match value {
        Value::Text(text) => written_shift(text).unwrap_or_default(),
        Value::Int(count) => counted_shift(count.saturating_abs()),
        _ => Vec::new(),
    };
    let mut shifts: Vec<i64> = Vec::new();
    for shift in place.pool.near.iter().flat_map(of) {
        if !shifts.contains(&shift) {
            shifts.push(shift);
        }
    }
    shifts.truncate(SHIFTS);
    shifts
}

fn written_shift(text: &str) -> Option<Vec<i64>> {
    let (count, unit) = text.trim().split_once(' ')?;
    let count: i64 = count.trim_start_matches(['+', '-']).parse().ok().filter(|count| *count < 10_000)?;
    let days = |days: i64| days * DAY;
    Some(match unit.trim().trim_end_matches('s') {
        "second" | "sec" => vec![count * SECOND],
        "minute" | "min" => vec![count * 60 * SECOND],
        "hour" => vec![count * HOUR],
        "day" => vec![days(count)],
        "week" => vec![days(7 * count)],
        "month" | "mon" => vec![days(31 * count), days(30 * count)],
        // Without leap days, and with those that there may be.
        "year" => vec![days(365 * count), days(365 * count + count / 4), days(366 * count)],
        _ => return None,
    })
}

fn counted_shift(count: i64) -> Vec<i64> {
    let days = if (2..=1_000).contains(&count) { count.checked_mul(DAY) } else { None };
    let seconds = if (10..10_000_000).contains(&count) { count.checked_mul(SECOND) } else { None };
    let thousandths = if (10_000..10_000_000_000).contains(&count) { count.checked_mul(1_000) } else { None };
    [seconds, thousandths, days].into_iter().flatten().collect()
}
