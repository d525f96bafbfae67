//! The values of the story in the library that is chosen.

#[cfg(feature = "chrono")]
mod chosen {
    use chrono::{DateTime, NaiveDate, NaiveTime, Utc};

    pub fn at(seconds: i64, micros: i64) -> DateTime<Utc> {
        DateTime::from_timestamp_micros(seconds * 1_000_000 + micros).expect("a time of this century")
    }

    pub fn seconds(time: DateTime<Utc>) -> i64 {
        time.timestamp()
    }

    pub fn micros(time: DateTime<Utc>) -> i64 {
        i64::from(time.timestamp_subsec_micros())
    }

    pub fn day() -> NaiveDate {
        NaiveDate::from_ymd_opt(2024, 2, 29).expect("a day of a leap year")
    }

    pub fn evening() -> NaiveTime {
        NaiveTime::from_hms_opt(18, 30, 0).expect("a time of day")
    }
}

#[cfg(all(feature = "time", not(feature = "chrono")))]
mod chosen {
    use time::{Date, Month, OffsetDateTime, Time};

    pub fn at(seconds: i64, micros: i64) -> OffsetDateTime {
        let nanoseconds = i128::from(seconds * 1_000_000 + micros) * 1_000;
        OffsetDateTime::from_unix_timestamp_nanos(nanoseconds).expect("a time of this century")
    }

    pub fn seconds(time: OffsetDateTime) -> i64 {
        time.unix_timestamp()
    }

    pub fn micros(time: OffsetDateTime) -> i64 {
        i64::from(time.microsecond())
    }

    pub fn day() -> Date {
        Date::from_calendar_date(2024, Month::February, 29).expect("a day of a leap year")
    }

    pub fn evening() -> Time {
        Time::from_hms(18, 30, 0).expect("a time of day")
    }
}

#[cfg(all(feature = "jiff", not(any(feature = "chrono", feature = "time"))))]
mod chosen {
    use jiff::Timestamp;
    use jiff::civil::{Date, Time, date, time};

    pub fn at(seconds: i64, micros: i64) -> Timestamp {
        Timestamp::from_microsecond(seconds * 1_000_000 + micros).expect("a time of this century")
    }

    pub fn seconds(time: Timestamp) -> i64 {
        time.as_second()
    }

    pub fn micros(time: Timestamp) -> i64 {
        i64::from(time.subsec_microsecond())
    }

    pub fn day() -> Date {
        date(2024, 2, 29)
    }

    pub fn evening() -> Time {
        time(18, 30, 0, 0)
    }
}

pub use chosen::{at, day, evening, micros, seconds};
