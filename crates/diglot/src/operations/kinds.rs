//! Sets of types that a row of the table takes.

use crate::dialect::Dialect;
use crate::types::Base;

/// A set of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u32);

/// Every type, with its place in a set.
const ALL: [Base; 18] = [
    Base::Bool,
    Base::Int16,
    Base::Int32,
    Base::Int64,
    Base::Numeric,
    Base::Float64,
    Base::Text,
    Base::Bytes,
    Base::Uuid,
    Base::Json,
    Base::Timestamp,
    Base::TextArray,
    Base::Int64Array,
    Base::UuidArray,
    Base::DateTime,
    Base::Date,
    Base::TimeOfDay,
    Base::Interval,
];

/// The mark of values that are never NULL.
const PRESENT: u32 = 1 << 31;

/// The mark of values that are calculated with, which no text of a time is.
const COUNTED: u32 = 1 << 30;

impl Kinds {
    /// Flags.
    pub const FLAG: Self = Self(1);
    /// Integers of 32 bits and fewer.
    pub const NARROW: Self = Self(0b110);
    /// Integers of 64 bits.
    pub const WIDE: Self = Self(0b1000);
    /// Integers.
    pub const WHOLE: Self = Self::NARROW.or(Self::WIDE);
    /// Numbers of any precision.
    pub const EXACT: Self = Self(1 << 4);
    /// Numbers of double precision.
    pub const REAL: Self = Self(1 << 5);
    /// Numbers.
    pub const NUMBER: Self = Self::WHOLE.or(Self::EXACT).or(Self::REAL);
    /// Texts.
    pub const TEXT: Self = Self(1 << 6);
    /// Bytes.
    pub const BYTES: Self = Self(1 << 7);
    /// Ids.
    pub const ID: Self = Self(1 << 8);
    /// Documents.
    pub const JSON: Self = Self(1 << 9);
    /// Points in time and spans of it.
    pub const TIME: Self = Self((1 << 10) | (0b1111 << 14));
    /// Lists.
    pub const LIST: Self = Self(0b111 << 11);
    /// Everything.
    pub const ANY: Self = Self((1 << ALL.len()) - 1);

    /// The same types, of values that are known never to be NULL.
    pub const fn present(self) -> Self {
        Self(self.0 | PRESENT)
    }

    /// The same types, of values that are calculated with: SQLite would take the digits of the year for a time in text.
    pub const fn counted(self) -> Self {
        Self(self.0 | COUNTED)
    }

    /// Whether values must be known never to be NULL.
    pub fn is_present(self) -> bool {
        self.0 & PRESENT != 0
    }

    /// Both sets.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a value of a type is in it. SQLite stores flags as integers, ids as bytes, documents and lists as texts.
    pub fn has(self, dialect: Dialect, base: &Base) -> bool {
        let stored = match (dialect, base) {
            (Dialect::Sqlite, Base::Bool) => Self::WIDE,
            (Dialect::Sqlite, Base::Uuid) => Self::BYTES,
            (_, Base::Enum(_)) => Self::TEXT,
            (Dialect::Sqlite, Base::Stored(stored)) => {
                let is_year = stored.of.base().is_time() && *base.seen() == Base::Text;
                return !(is_year && self.0 & COUNTED != 0) && self.has(dialect, base.seen());
            }
            (Dialect::Sqlite, Base::Json | Base::TextArray | Base::Int64Array | Base::UuidArray) => Self::TEXT,
            _ => Self(0),
        };
        let own = ALL.iter().position(|known| known == base).map_or(0, |at| 1 << at);
        self.0 & (own | stored.0) != 0
    }

    /// The types in it, as an engine has them.
    pub fn bases(self, dialect: Dialect) -> impl Iterator<Item = Base> {
        ALL.into_iter().filter(move |base| self.has(dialect, base))
    }
}
