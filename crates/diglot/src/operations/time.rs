//! Clocks and times.

use super::Form::{Call, Infix};
use super::meaning::{Clock, Meaning as M};
use super::{Kinds as K, Row, pg, sqlite};

pub(super) const ROWS: &[Row] = &[
    sqlite(Call, "current_timestamp", &[], M::Now(Clock::Text)),
    pg(Call, "current_timestamp", &[], M::Now(Clock::Instant)),
    sqlite(Call, "current_date", &[], M::Now(Clock::Text)),
    pg(Call, "current_date", &[], M::Now(Clock::Date)),
    sqlite(Call, "current_time", &[], M::Now(Clock::Text)),
    pg(Call, "current_time", &[], M::Now(Clock::TimeOfDay)),
    pg(Call, "localtimestamp", &[], M::Now(Clock::Instant)),
    pg(Call, "now", &[], M::Now(Clock::Instant)),
    pg(Call, "transaction_timestamp", &[], M::Now(Clock::Instant)),
    pg(Call, "statement_timestamp", &[], M::Now(Clock::Instant)),
    pg(Call, "clock_timestamp", &[], M::Now(Clock::Instant)),
    sqlite(Call, "unixepoch", &[], M::Time("seconds since 1970")),
    sqlite(Call, "unixepoch", &[K::ANY], M::Time("seconds since 1970")).more(8),
    sqlite(Call, "julianday", &[], M::Time("days of Julius")),
    sqlite(Call, "julianday", &[K::ANY], M::Time("days of Julius")).more(8),
    sqlite(Call, "strftime", &[K::TEXT], M::Time("by directives")),
    sqlite(Call, "strftime", &[K::TEXT, K::ANY], M::Time("by directives")).more(8),
    sqlite(Call, "date", &[], M::Time("date as a text")),
    sqlite(Call, "date", &[K::ANY], M::Time("date as a text")).more(8),
    sqlite(Call, "time", &[], M::Time("time of day as a text")),
    sqlite(Call, "time", &[K::ANY], M::Time("time of day as a text")).more(8),
    sqlite(Call, "datetime", &[], M::Time("both as a text")),
    sqlite(Call, "datetime", &[K::ANY], M::Time("both as a text")).more(8),
    pg(Call, "extract", &[K::TEXT, K::TIME], M::Time("field, of any precision")),
    pg(Call, "date_part", &[K::TEXT, K::TIME], M::Time("field, of double precision")),
    pg(Call, "date_trunc", &[K::TEXT, K::TIME], M::Time("cut off")).more(1),
    pg(Call, "to_timestamp", &[K::NUMBER], M::Time("of seconds since 1970")),
    pg(Call, "to_char", &[K::TIME.or(K::NUMBER), K::TEXT], M::Time("by patterns")),
    pg(Call, "make_interval", &[K::ANY], M::Time("span")).more(6),
    pg(Infix, "at time zone", &[K::ANY, K::ANY], M::Time("in a zone")),
];
