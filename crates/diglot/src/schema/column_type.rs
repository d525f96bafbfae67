//! The logical type behind a column's declared type, in each dialect.

use sqlparser::ast::DataType;

use crate::dialect::Dialect;
use crate::types::Base;

/// The logical type of a declared type. `None` when it has no counterpart in a generated API.
pub(super) fn base(dialect: Dialect, declared: &DataType) -> Option<Base> {
    let name = plain(declared);
    match dialect {
        Dialect::Sqlite => sqlite(&name),
        Dialect::Pg => pg(&name),
    }
}

/// Types that are written often, by their usual names.
const USUAL: [&str; 17] = [
    "bigint",
    "blob",
    "boolean",
    "bytea",
    "character varying",
    "date",
    "datetime",
    "integer",
    "jsonb",
    "numeric",
    "real",
    "smallint",
    "text",
    "timestamp",
    "timestamptz",
    "uuid",
    "varchar",
];

/// The known type that a name is a slip of the finger away from.
pub(super) fn meant(dialect: Dialect, name: &str) -> Option<(&'static str, Base)> {
    // An array of a known type has its brackets, which are no slip.
    if name.contains('[') {
        return None;
    }
    let slips = |word: &str| match word.len() {
        0..=5 => 1,
        _ => 2,
    };
    let near = USUAL.into_iter().map(|word| (strsim::osa_distance(name, word), word));
    let near = near.filter(|(distance, word)| *distance <= slips(word)).min_by_key(|(distance, _)| *distance);
    let (_, word) = near?;
    let base = match dialect {
        Dialect::Sqlite => sqlite(word),
        Dialect::Pg => pg(word),
    };
    Some((word, base?))
}

/// The type's name in lower case, without lengths: `character varying(20)` is `character varying`.
pub(super) fn plain(declared: &DataType) -> String {
    let mut name = String::new();
    let mut depth = 0_usize;
    for c in declared.to_string().to_lowercase().chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 => name.push(c),
            _ => {}
        }
    }
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the type draws its value from a sequence.
pub(super) fn is_serial(name: &str) -> bool {
    matches!(name, "smallserial" | "serial2" | "serial" | "serial4" | "bigserial" | "serial8")
}

fn pg(name: &str) -> Option<Base> {
    let name = name.strip_prefix("pg_catalog.").unwrap_or(name);
    let element = name.split('[').next().unwrap_or(name).trim();
    let element = element.strip_suffix(" array").unwrap_or(element);
    if element != name {
        return match pg(element)? {
            Base::Text => Some(Base::TextArray),
            Base::Int16 | Base::Int32 | Base::Int64 => Some(Base::Int64Array),
            Base::Uuid => Some(Base::UuidArray),
            _ => None,
        };
    }
    Some(match name {
        "boolean" | "bool" => Base::Bool,
        "smallint" | "int2" | "smallserial" | "serial2" => Base::Int16,
        "integer" | "int" | "int4" | "serial" | "serial4" => Base::Int32,
        "bigint" | "int8" | "bigserial" | "serial8" => Base::Int64,
        "numeric" | "decimal" | "dec" => Base::Numeric,
        "double precision" | "double" | "float8" | "real" | "float4" | "float" => Base::Float64,
        "text" | "varchar" | "character varying" | "char varying" | "char" | "character" | "bpchar" | "citext"
        | "name" => Base::Text,
        "bytea" => Base::Bytes,
        "uuid" => Base::Uuid,
        "json" | "jsonb" => Base::Json,
        _ => time(name)?,
    })
}

/// The type of a time of Postgres.
pub(crate) fn time(name: &str) -> Option<Base> {
    Some(match name {
        "timestamptz" | "timestamp with time zone" => Base::Timestamp,
        "timestamp" | "timestamp without time zone" => Base::DateTime,
        "date" => Base::Date,
        "time" | "time without time zone" => Base::TimeOfDay,
        "timetz" | "time with time zone" => Base::Interval,
        _ if name.starts_with("interval") => Base::Interval,
        _ => return None,
    })
}

/// SQLite reads a type's affinity from pieces of its name; `BOOLEAN`, `UUID` and `JSON` say more to a reader than
/// to SQLite, and are taken at their word.
fn sqlite(name: &str) -> Option<Base> {
    let has = |piece: &str| name.contains(piece);
    match name {
        "boolean" | "bool" => return Some(Base::Bool),
        "uuid" => return Some(Base::Uuid),
        "json" | "jsonb" => return Some(Base::Json),
        "" => return Some(Base::Bytes),
        _ => {}
    }
    Some(if has("int") {
        Base::Int64
    } else if has("char") || has("clob") || has("text") {
        Base::Text
    } else if has("blob") || has("binary") {
        Base::Bytes
    } else if has("real") || has("floa") || has("doub") {
        Base::Float64
    } else if has("date") || has("time") {
        Base::Timestamp
    } else if has("serial") {
        // Nothing is numbered by it on SQLite, but it keeps whole numbers as they are.
        Base::Int64
    } else if has("numeric") || has("decimal") {
        Base::Numeric
    } else {
        return None;
    })
}
