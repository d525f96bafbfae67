//! Times that are tried on both pages: one text, and what each database holds for it.

use super::Value;
use crate::types::{Base, Form, Stored};

const DAY: i64 = 86_400_000_000;

/// The microseconds since 1970 of `2024-01-31`, with or without ` 12:00:00` behind it, or of a time of day since midnight.
pub fn microseconds(text: &str) -> Option<i64> {
    match text.split_once(' ') {
        Some((day, time)) => days(day)?.checked_mul(DAY)?.checked_add(of_day(time)?),
        None if text.contains(':') => of_day(text),
        None => days(text)?.checked_mul(DAY),
    }
}

fn numbers(text: &str, between: char) -> Option<[i64; 3]> {
    let mut parts = text.splitn(3, between).map(|part| part.parse::<i64>().ok());
    Some([parts.next()??, parts.next()??, parts.next()??])
}

fn of_day(text: &str) -> Option<i64> {
    let [hours, minutes, seconds] = numbers(text, ':')?;
    Some(((hours * 60 + minutes) * 60 + seconds) * 1_000_000)
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

/// What SQLite holds for a value.
pub fn held(value: &Value, stored: Stored) -> Value {
    let Value::Text(text) = value else {
        return match (value, stored.of.base()) {
            (Value::Int(n), Base::Numeric) => Value::Text(n.to_string()),
            (Value::Real(r), Base::Numeric) => Value::Text(r.to_string()),
            _ => value.clone(),
        };
    };
    let moment = microseconds(text);
    match (stored.form, moment) {
        (Form::Seconds | Form::Unsaid, Some(moment)) => Value::Int(moment.div_euclid(1_000_000)),
        (Form::Milliseconds, Some(moment)) => Value::Int(moment.div_euclid(1_000)),
        (Form::Microseconds, Some(moment)) => Value::Int(moment),
        (Form::Julian, Some(moment)) => Value::Real(moment as f64 / DAY as f64 + 2_440_587.5),
        (Form::DatetimeMs, _) => Value::Text(format!("{text}.000")),
        (Form::Iso, _) => Value::Text(format!("{}Z", text.replace(' ', "T"))),
        (Form::IsoMs, _) => Value::Text(format!("{}.000Z", text.replace(' ', "T"))),
        (Form::Rfc3339, _) => Value::Text(format!("{}+00:00", text.replace(' ', "T"))),
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Of;

    #[test]
    fn a_text_is_the_time_that_it_says() {
        assert_eq!(microseconds("1970-01-01"), Some(0));
        assert_eq!(microseconds("2024-02-29 12:00:01"), Some(1_709_208_001_000_000));
        assert_eq!(microseconds("00:01:00"), Some(60_000_000));
        assert_eq!(microseconds("word"), None);
        let seconds = Stored { of: Of::Timestamp, form: Form::Seconds, scale: None };
        assert_eq!(held(&Value::Text("1970-01-02 00:00:00".into()), seconds), Value::Int(86_400));
    }
}
