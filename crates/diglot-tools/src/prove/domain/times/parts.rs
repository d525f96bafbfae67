//! Parts of times that pages ask for, by the words of either engine: the moments that tell one part from another.

use diglot::value::{Value, microseconds};

/// A part: the words by which SQLite and Postgres ask for it, and moments that tell it from others. The anchor beside them is
/// noon of the 31st of January 2024, a Wednesday.
struct Part {
    words: &'static [&'static str],
    moments: &'static [&'static str],
}

const PARTS: [Part; 6] = [
    Part {
        words: &["%w", "%u", "dow", "isodow", "day", "dy", "d", "id"],
        // A Sunday, the days beside it, and the others.
        moments: &[
            "2024-02-04 12:00:00",
            "2024-02-03 12:00:00",
            "2024-02-05 12:00:00",
            "2024-02-01 12:00:00",
            "2024-02-02 12:00:00",
            "2024-02-06 12:00:00",
        ],
    },
    Part {
        words: &["%m", "%d", "%j", "%e", "mm", "dd", "ddd", "mon", "month", "doy", "quarter", "q"],
        // The same day of another year, another day of the month, the same day of another month, a day behind a leap day, the
        // last month.
        moments: &[
            "2023-01-31 12:00:00",
            "2024-01-04 12:00:00",
            "2024-03-31 12:00:00",
            "2023-03-01 12:00:00",
            "2024-12-31 12:00:00",
        ],
    },
    Part {
        words: &["%V", "%G", "%U", "%W", "week", "iw", "ww", "isoyear", "iyyy"],
        // The last week of a year and the first of the next, before and after the year ends.
        moments: &["2021-01-03 12:00:00", "2020-12-28 12:00:00", "2018-12-31 12:00:00", "2023-01-01 12:00:00"],
    },
    Part {
        words: &["%H", "%I", "%k", "%l", "%p", "%P", "%T", "%R", "hour", "hh", "hh12", "hh24", "am", "pm"],
        moments: &["2024-01-31 13:00:00", "2024-01-31 00:30:00", "2024-01-31 22:00:00", "2024-01-31 23:00:00"],
    },
    Part { words: &["%M", "%S", "mi", "ss", "minute", "second"], moments: &["2024-01-31 12:07:09"] },
    Part {
        words: &["%Y", "yyyy", "year", "decade", "century"],
        moments: &["2023-12-31 12:00:00", "2000-12-31 12:00:00"],
    },
];

/// Moments that are known to matter beside those.
const OTHERS: [&str; 4] = ["2024-02-04 12:00:00", "2023-01-31 12:00:00", "2021-01-03 12:00:00", "2024-01-31 13:00:00"];

/// The moments that tell the parts that are asked for beside a time, and those that may matter all the same.
pub(super) fn of(near: &[Value]) -> (Vec<i64>, Vec<i64>) {
    let all = |moments: &[&str]| moments.iter().filter_map(|text| microseconds(text)).collect::<Vec<i64>>();
    let asked =
        PARTS.iter().filter(|part| near.iter().any(|value| matches!(value, Value::Text(text) if asks(text, part))));
    (asked.flat_map(|part| all(part.moments)).collect(), all(&OTHERS))
}

/// Whether a format or the name of a part asks for it. SQLite tells the letters of its formats by their case.
fn asks(text: &str, part: &Part) -> bool {
    if text.contains('%') {
        return part.words.iter().any(|word| word.starts_with('%') && text.contains(word));
    }
    let mut words = text.split(|letter: char| !letter.is_alphanumeric());
    words.any(|word| part.words.contains(&word.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_found_by_the_words_of_either_engine() {
        let asked = |text: &str| of(&[Value::Text(text.to_owned())]).0;
        let moment = |text: &str| microseconds(text).unwrap();
        assert!(["%w", "dow", "isodow"].into_iter().all(|text| asked(text).contains(&moment("2024-02-04 12:00:00"))));
        assert!(["%m-%d", "MM-DD", "doy"].into_iter().all(|text| asked(text).contains(&moment("2023-01-31 12:00:00"))));
        assert!(
            ["%V", "%G", "%W", "IYYY-IW"].into_iter().all(|text| asked(text).contains(&moment("2021-01-03 12:00:00")))
        );
        assert!(["%H:%M", "HH24:MI"].into_iter().all(|text| asked(text).contains(&moment("2024-01-31 13:00:00"))));
        assert!(asked("%M").iter().all(|at| *at != moment("2023-01-31 12:00:00")));
        assert!(asked("word").is_empty());
    }
}
