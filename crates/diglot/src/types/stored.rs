//! How SQLite holds what Postgres has a type for: times and decimals.
//!
//! SQLite knows integers, reals, texts and bytes. A column that faces `timestamptz` holds seconds or milliseconds, or a
//! text of one format; all values of a column are in one form, and every read, write and comparison goes by it.

use serde::{Deserialize, Serialize};

use super::Base;

/// A value of SQLite that stands for one of a type that SQLite does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stored {
    /// What it stands for.
    pub of: Of,
    /// How it is written.
    pub form: Form,
    /// How many digits a decimal has behind the point, where its type says so.
    pub scale: Option<u32>,
}

/// What a value stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Of {
    /// `timestamptz`.
    Timestamp,
    /// `timestamp`.
    DateTime,
    /// `date`.
    Date,
    /// `time`.
    TimeOfDay,
    /// `numeric`.
    Decimal,
    /// `uuid`.
    Uuid,
}

/// How it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Form {
    /// Seconds since 1970 in UTC, as an integer.
    Seconds,
    /// Milliseconds since 1970.
    Milliseconds,
    /// Microseconds since 1970.
    Microseconds,
    /// A Julian day, as a real.
    Julian,
    /// `2024-01-31 12:00:00`, as `CURRENT_TIMESTAMP` and `datetime()` write it.
    Datetime,
    /// `2024-01-31 12:00:00.123`.
    DatetimeMs,
    /// `2024-01-31T12:00:00Z`.
    Iso,
    /// `2024-01-31T12:00:00.123Z`.
    IsoMs,
    /// `2024-01-31T12:00:00.123456+00:00`, with as many digits as there are, as sqlx writes it.
    Rfc3339,
    /// `2024-01-31`.
    Date,
    /// `12:00:00`.
    Time,
    /// The digits of a decimal, as a text.
    Digits,
    /// The digits of an id with hyphens, in small letters.
    Hyphenated,
    /// Nothing says how: the finding about that asks for a line in `diglot.toml`.
    Unsaid,
}

use Form::{
    Date, Datetime, DatetimeMs, Digits, Hyphenated, Iso, IsoMs, Julian, Microseconds, Milliseconds, Rfc3339, Seconds,
    Time, Unsaid,
};

impl Form {
    /// Every form that a project may declare, with its word.
    pub(crate) const WORDS: [(Self, &str); 13] = [
        (Seconds, "seconds"),
        (Milliseconds, "milliseconds"),
        (Microseconds, "microseconds"),
        (Julian, "julian"),
        (Datetime, "datetime"),
        (DatetimeMs, "datetime-ms"),
        (Iso, "iso"),
        (IsoMs, "iso-ms"),
        (Rfc3339, "rfc3339"),
        (Date, "date"),
        (Time, "time"),
        (Digits, "digits"),
        (Hyphenated, "hyphenated"),
    ];

    /// The word of `[storage]`.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(form, _)| *form == self).map_or("nothing that is declared", |(_, word)| word)
    }

    /// The form behind a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(form, _)| *form)
    }

    /// The words of the forms that a type may be held in.
    pub fn words(of: Of) -> String {
        let fitting = Self::WORDS.iter().filter(|(form, _)| form.holds(of)).map(|(_, word)| format!("`{word}`"));
        fitting.collect::<Vec<_>>().join(", ")
    }

    /// Whether a type may be held so.
    pub fn holds(self, of: Of) -> bool {
        match self {
            Seconds | Milliseconds | Microseconds | Julian => matches!(of, Of::Timestamp | Of::DateTime),
            Datetime | DatetimeMs | Iso | IsoMs | Rfc3339 => matches!(of, Of::Timestamp | Of::DateTime),
            Date => of == Of::Date,
            Time => of == Of::TimeOfDay,
            Digits => of == Of::Decimal,
            Hyphenated => of == Of::Uuid,
            Unsaid => true,
        }
    }

    /// What SQLite sees.
    pub fn seen(self) -> &'static Base {
        match self {
            Seconds | Milliseconds | Microseconds | Unsaid => &Base::Int64,
            Julian => &Base::Float64,
            Datetime | DatetimeMs | Iso | IsoMs | Rfc3339 | Date | Time | Digits | Hyphenated => &Base::Text,
        }
    }

    /// How many units a second has, of a number; of a text how many it can tell.
    pub fn units(self) -> i64 {
        match self {
            Milliseconds | DatetimeMs | IsoMs | Julian => 1_000,
            Microseconds | Rfc3339 | Time => 1_000_000,
            Seconds | Datetime | Iso | Date | Digits | Hyphenated | Unsaid => 1,
        }
    }

    /// The form that a clock of SQLite writes, from its name and the texts that it is given.
    ///
    /// Shifts such as `'-1 hour'` leave it as it is; `'localtime'` is for the caller to see.
    pub fn written_by(function: &str, texts: &[&str]) -> Option<Self> {
        Some(match (function, texts) {
            ("unixepoch", [.., "subsec" | "subsecond"]) => return None,
            ("unixepoch", _) | ("strftime", ["%s", ..]) => Seconds,
            ("current_timestamp" | "datetime", _) if texts.iter().any(|text| text.starts_with("subsec")) => DatetimeMs,
            ("current_timestamp" | "datetime", _)
            | ("strftime", ["%Y-%m-%d %H:%M:%S" | "%F %T" | "%F %H:%M:%S", ..]) => Datetime,
            ("strftime", ["%Y-%m-%d %H:%M:%f" | "%F %H:%M:%f", ..]) => DatetimeMs,
            ("strftime", ["%Y-%m-%dT%H:%M:%SZ" | "%FT%TZ", ..]) => Iso,
            ("strftime", ["%Y-%m-%dT%H:%M:%fZ" | "%FT%H:%M:%fZ", ..]) => IsoMs,
            ("strftime", ["%Y-%m-%dT%H:%M:%S+00:00" | "%Y-%m-%dT%H:%M:%f+00:00", ..]) => Rfc3339,
            ("current_date" | "date", _) | ("strftime", ["%Y-%m-%d" | "%F", ..]) => Date,
            ("current_time" | "time", _) | ("strftime", ["%H:%M:%S" | "%T", ..]) => Time,
            ("julianday", _) => Julian,
            _ => return None,
        })
    }
}

impl Of {
    /// The type.
    pub fn base(self) -> Base {
        match self {
            Self::Timestamp => Base::Timestamp,
            Self::DateTime => Base::DateTime,
            Self::Date => Base::Date,
            Self::TimeOfDay => Base::TimeOfDay,
            Self::Decimal => Base::Numeric,
            Self::Uuid => Base::Uuid,
        }
    }

    /// What a column of SQLite that faces such a one of Postgres stands for.
    pub fn facing(pg: &Base) -> Option<Self> {
        [Self::Timestamp, Self::DateTime, Self::Date, Self::TimeOfDay, Self::Decimal, Self::Uuid]
            .into_iter()
            .find(|of| of.base() == *pg)
    }
}
