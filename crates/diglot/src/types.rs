//! Logical types: what a column, a parameter or an expression holds, in either dialect.

mod stored;

use std::fmt;

pub use stored::{Form, Of, Stored};

use serde::{Deserialize, Serialize};

/// A logical type. `Int64` and `Text` are what SQLite knows of a `smallint` or a `jsonb`; the finer
/// type of the pair decides (see [`Base::finer`]).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Base {
    /// `boolean`; `INTEGER` 0/1 on SQLite.
    Bool,
    /// `smallint`.
    Int16,
    /// `integer`.
    Int32,
    /// `bigint`; every `INTEGER` on SQLite.
    Int64,
    /// `numeric`: a decimal where SQLite holds its digits. What Postgres gives for `sum(bigint)` asks for a cast.
    Numeric,
    /// `double precision`, `REAL`.
    Float64,
    /// `text`.
    Text,
    /// `bytea`, `BLOB`.
    Bytes,
    /// `uuid`; 16 bytes of `BLOB` on SQLite.
    Uuid,
    /// `jsonb`; JSON in `TEXT` on SQLite.
    Json,
    /// `timestamptz`: a point in time.
    Timestamp,
    /// `timestamp`: a date with a time of day, in no zone.
    DateTime,
    /// `date`.
    Date,
    /// `time`.
    TimeOfDay,
    /// `interval` and `timetz`: allowed in the schema, not in a generated API.
    Interval,
    /// An enum of Postgres; one of its words in `TEXT` on SQLite.
    Enum(Box<Enum>),
    /// What SQLite holds for a time, a decimal or an id.
    Stored(Stored),
    /// `text[]`; a JSON array in `TEXT` on SQLite.
    TextArray,
    /// `bigint[]` (and narrower); a JSON array in `TEXT` on SQLite.
    Int64Array,
    /// `uuid[]`; a JSON array of text on SQLite.
    UuidArray,
}

/// A logical type and whether it may be NULL.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Type {
    /// What it holds.
    pub base: Base,
    /// Whether it may be NULL.
    pub nullable: bool,
}

/// An enum.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Enum {
    /// Its name in lower case.
    pub name: String,
    /// Its words in their order.
    pub words: Vec<String>,
}

impl Enum {
    /// Whether it is that of the orders of a statement, whose name has a point in it; no type of Postgres has one.
    pub(crate) fn is_of_orders(&self) -> bool {
        self.name.contains('.')
    }
}

/// Whether a type of Postgres, by its name, is a floating-point number of 4 bytes.
pub fn is_real(name: &str) -> bool {
    let short = |digits: &str| digits.trim_end_matches(')').trim().parse::<u8>().is_ok_and(|bits| bits <= 24);
    matches!(name, "real" | "float4") || name.strip_prefix("float(").is_some_and(short)
}

impl Base {
    /// Whether it is a list.
    pub fn is_list(&self) -> bool {
        matches!(self, Self::TextArray | Self::Int64Array | Self::UuidArray)
    }

    /// How a cast of Postgres names the widest type that holds it.
    pub fn pg_name(&self) -> &'static str {
        match self {
            Self::Bool => "boolean",
            Self::Int16 | Self::Int32 | Self::Int64 => "bigint",
            Self::Numeric => "numeric",
            Self::Float64 => "double precision",
            Self::Bytes => "bytea",
            Self::Uuid => "uuid",
            Self::Json => "jsonb",
            Self::Text | Self::Enum(_) | Self::Stored(_) => "text",
            Self::Timestamp => "timestamptz",
            Self::DateTime => "timestamp",
            Self::Date => "date",
            Self::TimeOfDay => "time",
            Self::Interval => "interval",
            Self::TextArray => "text[]",
            Self::Int64Array => "bigint[]",
            Self::UuidArray => "uuid[]",
        }
    }

    /// Whether Postgres holds it in more than one width, of which the API shows the widest: `real` beside
    /// `double precision`, `integer[]` and `smallint[]` beside `bigint[]`.
    pub fn has_widths(&self) -> bool {
        matches!(self, Self::Float64 | Self::Int64Array)
    }

    /// Whether it is a point in time, or a part of one.
    pub fn is_time(&self) -> bool {
        matches!(self, Self::Timestamp | Self::DateTime | Self::Date | Self::TimeOfDay)
    }

    /// How SQLite holds it, where it stands for what SQLite does not have.
    pub fn stored(&self) -> Option<Stored> {
        match self {
            Self::Stored(stored) => Some(*stored),
            _ => None,
        }
    }

    /// What an engine sees of it: of what SQLite holds for a time, the number or the text.
    pub fn seen(&self) -> &Base {
        match self {
            Self::Stored(stored) => stored.form.seen(),
            base => base,
        }
    }

    /// The finer of the two pages' types, or `None` when they cannot mean the same value.
    pub fn finer(sqlite: &Base, pg: &Base) -> Option<Base> {
        use Base::{Bool, Bytes, Float64, Int16, Int32, Int64, Int64Array, Json, Text, TextArray, Uuid, UuidArray};
        match (sqlite, pg) {
            (a, b) if a == b => Some(a.clone()),
            (Int64 | Int32 | Int16 | Bool, b @ (Int64 | Int32 | Int16 | Bool)) => Some(b.clone()),
            (Bytes, Uuid) => Some(Uuid),
            (Text, b @ (Json | TextArray | Int64Array | UuidArray)) => Some(b.clone()),
            (Json, b @ (Text | TextArray | Int64Array | UuidArray)) => Some(b.clone()),
            (Text, b @ Base::Enum(_)) => Some(b.clone()),
            (Base::Stored(stored), pg) if stored.of.base() == *pg => Some(pg.clone()),
            (Base::Stored(stored), pg) => Base::finer(stored.form.seen(), pg),
            (Float64, Int64) | (Int64, Float64) => None,
            _ => None,
        }
    }

    /// The word used in `-- param:` and `-- column:` annotations.
    pub fn word(&self) -> &'static str {
        match self {
            Base::Bool => "bool",
            Base::Int16 => "i16",
            Base::Int32 => "i32",
            Base::Int64 => "i64",
            Base::Numeric => "numeric",
            Base::Float64 => "f64",
            Base::Text => "text",
            Base::Bytes => "bytes",
            Base::Uuid => "uuid",
            Base::Json => "json",
            Base::Timestamp => "timestamp",
            Base::DateTime => "datetime",
            Base::Date => "date",
            Base::TimeOfDay => "time",
            Base::Interval => "interval",
            Base::Enum(_) => "enum",
            Base::Stored(stored) => stored.form.word(),
            Base::TextArray => "text[]",
            Base::Int64Array => "i64[]",
            Base::UuidArray => "uuid[]",
        }
    }

    /// The type behind an annotation's word, if it is one that an annotation may name.
    pub fn from_word(word: &str) -> Option<Base> {
        [
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
            Base::DateTime,
            Base::Date,
            Base::TimeOfDay,
            Base::TextArray,
            Base::Int64Array,
            Base::UuidArray,
        ]
        .into_iter()
        .find(|base| base.word() == word)
    }
}

impl Type {
    /// A type that is never NULL.
    pub fn required(base: Base) -> Self {
        Self { base, nullable: false }
    }

    /// A type that may be NULL.
    pub fn optional(base: Base) -> Self {
        Self { base, nullable: true }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.base.word())?;
        if self.nullable { f.write_str(" null") } else { Ok(()) }
    }
}
