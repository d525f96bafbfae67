//! Times that are tried on both pages: one text, and what each database holds for it.

use super::{Value, hyphenated};
use crate::types::{Base, Form, Of, Stored};

const DAY: i64 = 86_400_000_000;

/// The microseconds since 1970 of `2024-01-31`, with or without ` 12:00:00` behind it, or of a time of day since midnight.
pub fn microseconds(text: &str) -> Option<i64> {
    let text = ["Z", "+00:00", "+00"].iter().find_map(|utc| text.strip_suffix(utc)).unwrap_or(text);
    match text.split_once([' ', 'T']) {
        Some((day, time)) => days(day)?.checked_mul(DAY)?.checked_add(of_day(time)?),
        None if text.contains(':') => of_day(text),
        None => days(text)?.checked_mul(DAY),
    }
}

/// The text of a time in UTC.
pub fn spelled(micros: i64) -> String {
    let days = micros.div_euclid(DAY) + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (later, month) = if month < 10 { (0, month + 3) } else { (1, month - 9) };
    let second = micros.rem_euclid(DAY) / 1_000_000;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let date = format!("{:04}-{month:02}-{day:02}", year + era * 400 + later);
    match micros.rem_euclid(1_000_000) {
        0 => format!("{date} {hour:02}:{minute:02}:{second:02}"),
        rest => format!("{date} {hour:02}:{minute:02}:{second:02}.{rest:06}"),
    }
}

/// What a value of either database says, in one spelling: a time as far as SQLite keeps it, a decimal without zeros at
/// its end. None for what is neither.
pub fn canonical(value: &Value, stored: Stored) -> Option<Value> {
    if stored.of == Of::Decimal {
        let (Value::Text(digits) | Value::Other(digits)) = value else { return None };
        let plain = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
        return Some(Value::Text(plain.to_owned()));
    }
    let moment = match (value, stored.form) {
        (Value::Int(n), Form::Seconds | Form::Unsaid) => n.checked_mul(1_000_000)?,
        (Value::Int(n), Form::Milliseconds) => n.checked_mul(1_000)?,
        (Value::Int(n), Form::Microseconds) => *n,
        (Value::Real(day), Form::Julian) => ((day - 2_440_587.5) * 86_400_000.0).round() as i64 * 1_000,
        (Value::Text(text), _) => microseconds(text)?,
        _ => return None,
    };
    let unit = 1_000_000 / stored.form.units();
    Some(Value::Text(spelled(moment.div_euclid(unit) * unit)))
}

fn numbers(text: &str, between: char) -> Option<[i64; 3]> {
    let mut parts = text.splitn(3, between).map(|part| part.parse::<i64>().ok());
    Some([parts.next()??, parts.next()??, parts.next()??])
}

fn of_day(text: &str) -> Option<i64> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let [hours, minutes, seconds] = numbers(clock, ':')?;
    let digits: String = fraction.chars().chain("000000".chars()).take(6).collect();
    Some(((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + digits.parse::<i64>().ok()?)
}

/// Days since 1970 in the calendar of today.
fn days(text: &str) -> Option<i64> {
    let [year, month, day] = numbers(text, '-')?;
    if !(1..=9_999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some(year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468)
}

/// The digits of a decimal as Postgres shows one with so many behind the point: a half goes away from zero.
fn rounded(digits: &str, scale: Option<u32>) -> String {
    let Some(scale) = scale else { return digits.to_owned() };
    let scale = scale as usize;
    let (sign, plain) = digits.strip_prefix('-').map_or(("", digits), |plain| ("-", plain));
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    let kept: String = fraction.chars().chain(std::iter::repeat('0')).take(scale).collect();
    let up = u128::from(fraction.as_bytes().get(scale).is_some_and(|digit| *digit >= b'5'));
    let Ok(units) = format!("{whole}{kept}").parse::<u128>() else { return digits.to_owned() };
    let units = format!("{:0>width$}", units + up, width = scale + 1);
    let (whole, fraction) = units.split_at(units.len() - scale);
    let sign = if units.chars().all(|digit| digit == '0') { "" } else { sign };
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// What SQLite holds for a value.
pub fn held(value: &Value, stored: Stored) -> Value {
    let Value::Text(text) = value else {
        return match (value, stored.of.base()) {
            (Value::Int(n), Base::Numeric) => Value::Text(rounded(&n.to_string(), stored.scale)),
            (Value::Real(r), Base::Numeric) => Value::Text(rounded(&r.to_string(), stored.scale)),
            (Value::Uuid(id), Base::Uuid) => Value::Text(hyphenated(id)),
            _ => value.clone(),
        };
    };
    let moment = microseconds(text);
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let thousandths: String = fraction.chars().chain("000".chars()).take(3).collect();
    match (stored.form, moment) {
        (Form::Seconds | Form::Unsaid, Some(moment)) => Value::Int(moment.div_euclid(1_000_000)),
        (Form::Milliseconds, Some(moment)) => Value::Int(moment.div_euclid(1_000)),
        (Form::Microseconds, Some(moment)) => Value::Int(moment),
        (Form::Julian, Some(moment)) => Value::Real(moment as f64 / DAY as f64 + 2_440_587.5),
        (Form::Datetime, _) => Value::Text(seconds.to_owned()),
        (Form::DatetimeMs, _) => Value::Text(format!("{seconds}.{thousandths}")),
        (Form::Iso, _) => Value::Text(format!("{}Z", seconds.replace(' ', "T"))),
        (Form::IsoMs, _) => Value::Text(format!("{}.{thousandths}Z", seconds.replace(' ', "T"))),
        (Form::Rfc3339, _) => Value::Text(format!("{}+00:00", text.replace(' ', "T"))),
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_time_that_it_says() {
        assert_eq!(microseconds("1970-01-01"), Some(0));
        assert_eq!(microseconds("2024-02-29 12:00:01"), Some(1_709_208_001_000_000));
        assert_eq!(microseconds("00:01:00"), Some(60_000_000));
        assert_eq!(microseconds("word"), None);
        assert_eq!(microseconds("2024-02-29T12:00:01.5Z").map(spelled).as_deref(), Some("2024-02-29 12:00:01.500000"));
        assert_eq!(spelled(-1_000_000), "1969-12-31 23:59:59");
        let seconds = Stored { of: Of::Timestamp, form: Form::Seconds, scale: None };
        assert_eq!(held(&Value::Text("1970-01-02 00:00:00".into()), seconds), Value::Int(86_400));
        let digits = Stored { of: Of::Uuid, form: Form::Hyphenated, scale: None };
        let id = held(&Value::Uuid([0x11; 16]), digits);
        assert_eq!(id, Value::Text("11111111-1111-1111-1111-111111111111".into()));
    }
    #[test]
    fn a_decimal_has_the_digits_of_its_type() {
        let cents = Stored { of: Of::Decimal, form: Form::Digits, scale: Some(2) };
        for (value, text) in [
            (Value::Int(0), "0.00"),
            (Value::Int(-12), "-12.00"),
            (Value::Real(-0.5), "-0.50"),
            (Value::Real(2.675), "2.68"),
            (Value::Real(-0.001), "0.00"),
            (Value::Real(9.995), "10.00"),
        ] {
            assert_eq!(held(&value, cents), Value::Text(text.into()));
        }
        let whole = Stored { scale: Some(0), ..cents };
        assert_eq!(held(&Value::Real(2.5), whole), Value::Text("3".into()));
        assert_eq!(held(&Value::Real(2.5), Stored { scale: None, ..cents }), Value::Text("2.5".into()));
    }
}
