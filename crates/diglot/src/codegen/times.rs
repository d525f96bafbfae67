//! Times and decimals: their Rust types, and how they are bound and read.
//!
//! Between a library's type and what SQLite holds stands a number of microseconds, so that every library needs two
//! functions for each type, and every form two for all libraries.

use crate::config::{Config, Decimals, Driver, Libraries, Times};
use crate::dialect::Dialect;
use crate::infer::{Param, ResultColumn, Signature};
use crate::types::{Base, Form, Of, Stored};

/// The Rust type of a time or a decimal.
pub(super) fn plain(libraries: Libraries, of: Of) -> &'static str {
    match (libraries.times, libraries.decimals, of) {
        (Times::Chrono, _, Of::Timestamp) => "::chrono::DateTime<::chrono::Utc>",
        (Times::Chrono, _, Of::DateTime) => "::chrono::NaiveDateTime",
        (Times::Chrono, _, Of::Date) => "::chrono::NaiveDate",
        (Times::Chrono, _, Of::TimeOfDay) => "::chrono::NaiveTime",
        (Times::Time, _, Of::Timestamp) => "::time::OffsetDateTime",
        (Times::Time, _, Of::DateTime) => "::time::PrimitiveDateTime",
        (Times::Time, _, Of::Date) => "::time::Date",
        (Times::Time, _, Of::TimeOfDay) => "::time::Time",
        (Times::Jiff, _, Of::Timestamp) => "::jiff::Timestamp",
        (Times::Jiff, _, Of::DateTime) => "::jiff::civil::DateTime",
        (Times::Jiff, _, Of::Date) => "::jiff::civil::Date",
        (Times::Jiff, _, Of::TimeOfDay) => "::jiff::civil::Time",
        (_, Decimals::RustDecimal, Of::Decimal) => "::rust_decimal::Decimal",
        (_, Decimals::BigDecimal, Of::Decimal) => "::bigdecimal::BigDecimal",
        (_, _, Of::Uuid) => "uuid::Uuid",
    }
}

/// The word of a type in the names of functions.
fn word(of: Of) -> &'static str {
    match of {
        Of::Timestamp => "timestamp",
        Of::DateTime => "datetime",
        Of::Date => "date",
        Of::TimeOfDay => "time",
        Of::Decimal => "decimal",
        Of::Uuid => "uuid",
    }
}

/// The type that the driver of Postgres reads where no macro of sqlx knows better.
pub(super) fn pg_record(config: &Config, base: &Base) -> Option<&'static str> {
    let of = Of::facing(base).filter(|_| !config.generate.queries.is_macro())?;
    Some(match of {
        Of::Timestamp => "diglot_support::PgTimestamp",
        Of::DateTime => "diglot_support::PgDateTime",
        Of::Date => "diglot_support::PgDate",
        Of::TimeOfDay => "diglot_support::PgTime",
        Of::Decimal if config.generate.driver == Driver::Pair => "diglot_support::PgDecimal",
        Of::Decimal | Of::Uuid => return None,
    })
}

/// The expression that binds a value of the API's plain type; none where it is bound as it is.
pub(super) fn bound(config: &Config, dialect: Dialect, param: &Param, value: &str) -> Option<String> {
    let of = Of::facing(&param.ty.base)?;
    let (stored, word) = (param.stored, word(of));
    Some(match (dialect, of) {
        (Dialect::Sqlite, Of::Uuid) => {
            stored?;
            format!("{value}.hyphenated().to_string()")
        }
        (Dialect::Pg, Of::Uuid) => return None,
        (Dialect::Sqlite, Of::Decimal) => format!("diglot_support::decimal_text(&{value}, {:?})", stored?.scale),
        (Dialect::Sqlite, _) => {
            format!("diglot_support::{}(diglot_support::{word}_value({value}))", writer(stored?.form))
        }
        (Dialect::Pg, Of::Decimal) if config.generate.driver == Driver::Pair => {
            let scale = stored.and_then(|stored| stored.scale);
            format!("diglot_support::PgDecimal(diglot_support::decimal_text(&{value}, {scale:?}))")
        }
        (Dialect::Pg, Of::Decimal) => match stored.and_then(|stored| stored.scale) {
            Some(scale) => format!("diglot_support::decimal_rounded(&{value}, {scale})"),
            None => return None,
        },
        (Dialect::Pg, _) => {
            let cut = micros(of, stored, value);
            match pg_record(config, &param.ty.base) {
                Some(wrapper) => format!("{wrapper}({cut})"),
                None if cut.starts_with("diglot_support::cut(") => {
                    format!("diglot_support::{word}({:?}, {cut}).unwrap_or({value})", param.name)
                }
                None => return None,
            }
        }
    })
}

/// The microseconds of a value on Postgres, cut to what SQLite keeps: both databases are to hold the same time.
fn micros(of: Of, stored: Option<Stored>, value: &str) -> String {
    let micros = format!("diglot_support::{}_value({value})", word(of));
    match stored.map_or(1_000_000, |stored| stored.form.units()) {
        _ if matches!(of, Of::Date | Of::TimeOfDay) => micros,
        1_000_000 => micros,
        units => format!("diglot_support::cut({micros}, {})", 1_000_000 / units),
    }
}

/// A time as a text that Postgres casts, with the type to cast it to.
pub(super) fn pg_text(param: &Param, of: Of, value: &str) -> Option<(String, &'static str)> {
    let (form, name) = match of {
        Of::Timestamp => (Form::Rfc3339, "timestamptz"),
        Of::DateTime => (Form::Rfc3339, "timestamp"),
        Of::Date => (Form::Date, "date"),
        Of::TimeOfDay => (Form::Time, "time"),
        Of::Decimal | Of::Uuid => return None,
    };
    Some((format!("diglot_support::{}({})", writer(form), micros(of, param.stored, value)), name))
}

/// The function that writes microseconds in a form.
fn writer(form: Form) -> &'static str {
    match form {
        Form::Seconds | Form::Unsaid => "seconds",
        Form::Milliseconds => "milliseconds",
        Form::Microseconds => "microseconds",
        Form::Julian => "julian",
        Form::Datetime => "text_datetime",
        Form::DatetimeMs => "text_datetime_ms",
        Form::Iso => "text_iso",
        Form::IsoMs => "text_iso_ms",
        Form::Rfc3339 => "text_rfc3339",
        Form::Date => "text_date",
        Form::Time | Form::Digits | Form::Hyphenated => "text_time",
    }
}

/// The call that turns what a driver gives into the API's plain type; none where it already is, or is no time.
pub(super) fn read(config: &Config, dialect: Dialect, column: &ResultColumn, value: &str) -> Option<String> {
    let (of, name) = (Of::facing(&column.ty.base)?, &column.name);
    let word = word(of);
    match dialect {
        Dialect::Sqlite => {
            let stored: Stored = column.sqlite.as_ref()?.stored()?;
            let read = match stored.form {
                Form::Hyphenated => {
                    let parsed = format!("uuid::Uuid::parse_str(&{value})");
                    return Some(format!("{parsed}.map_err(|error| diglot_support::decode({name:?}, error))"));
                }
                Form::Digits => return Some(format!("diglot_support::decimal({name:?}, {value})")),
                Form::Seconds | Form::Milliseconds | Form::Microseconds | Form::Unsaid => {
                    format!("diglot_support::of_units({name:?}, {value}, {})", 1_000_000 / stored.form.units())
                }
                Form::Julian => format!("diglot_support::of_julian({name:?}, {value})"),
                _ => format!("diglot_support::of_text({name:?}, &{value})"),
            };
            Some(format!("{read}.and_then(|value| diglot_support::{word}({name:?}, value))"))
        }
        Dialect::Pg if of == Of::Decimal && config.generate.driver == Driver::Pair => {
            Some(format!("diglot_support::decimal({name:?}, {value}.0)"))
        }
        // sqlx gives it digits behind the point in fours.
        Dialect::Pg if of == Of::Decimal && config.libraries().decimals == Decimals::BigDecimal => {
            let stored: Stored = column.sqlite.as_ref()?.stored()?;
            Some(format!("Ok::<_, sqlx::Error>(diglot_support::decimal_settled(&{value}, {:?}))", stored.scale))
        }
        Dialect::Pg => pg_record(config, column.pg.as_ref().unwrap_or(&column.ty.base))
            .map(|_| format!("diglot_support::{word}({name:?}, {value}.0)")),
    }
}

/// What the statements need of the conversions.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Uses {
    times: bool,
    decimals: bool,
}

impl Uses {
    /// What the parameters and columns of all statements need.
    pub(super) fn of<'s>(signatures: impl Iterator<Item = &'s Signature>) -> Self {
        let mut uses = Self::default();
        for signature in signatures {
            let fields = signature.rows.iter().flat_map(|rows| &rows.fields);
            let params = signature.params.iter().chain(fields).map(|param| &param.ty.base);
            for base in params.chain(signature.columns.iter().map(|column| &column.ty.base)) {
                uses.times |= base.is_time();
                uses.decimals |= *base == Base::Numeric;
            }
        }
        uses
    }

    /// What Postgres sends of them and gets, where no macro of sqlx knows it.
    pub(super) fn on_pg(self, driver: Driver) -> Vec<&'static str> {
        let mut texts = Vec::new();
        if self.times {
            texts.push(include_str!("support/pg_times.in"));
            texts.push(match driver {
                Driver::Sqlx => include_str!("support/pg_times_sqlx.in"),
                Driver::Pair => include_str!("support/pg_times_tokio.in"),
            });
        }
        if self.decimals && driver == Driver::Pair {
            texts.push(include_str!("support/pg_decimal.in"));
        }
        texts
    }

    /// The texts of the functions.
    pub(super) fn conversions(self, config: &Config) -> Vec<&'static str> {
        let libraries = config.libraries();
        let mut texts = Vec::new();
        if self.times {
            texts.push(include_str!("support/forms.in"));
            texts.push(match libraries.times {
                Times::Chrono => include_str!("support/chrono.in"),
                Times::Time => include_str!("support/time.in"),
                Times::Jiff => include_str!("support/jiff.in"),
            });
        }
        if self.decimals {
            texts.push(match libraries.decimals {
                Decimals::RustDecimal => include_str!("support/rust_decimal.in"),
                Decimals::BigDecimal => include_str!("support/bigdecimal.in"),
            });
        }
        texts
    }
}
