//! Types of operators, literals and casts, in each dialect.

use crate::dialect::Dialect;
use crate::schema::column_type::time;
use crate::types::{Base, Stored, Type};

/// The logical type behind a type name in a cast.
pub(super) fn named(dialect: Dialect, name: &str) -> Option<Base> {
    let plain = name.split('(').next().unwrap_or(name).trim();
    match dialect {
        Dialect::Sqlite => affinity(plain),
        Dialect::Pg => Some(match plain {
            "bool" | "boolean" => Base::Bool,
            "smallint" | "int2" => Base::Int16,
            "int" | "integer" | "int4" => Base::Int32,
            "bigint" | "int8" => Base::Int64,
            "numeric" | "decimal" | "dec" => Base::Numeric,
            "real" | "float4" | "double precision" | "float8" | "float" | "double" => Base::Float64,
            "text" | "varchar" | "character varying" | "char" | "character" | "bpchar" | "citext" | "name" => {
                Base::Text
            }
            "bytea" => Base::Bytes,
            "uuid" => Base::Uuid,
            "json" | "jsonb" => Base::Json,
            "text[]" | "varchar[]" => Base::TextArray,
            "smallint[]" | "int[]" | "integer[]" | "bigint[]" | "int2[]" | "int4[]" | "int8[]" => Base::Int64Array,
            "uuid[]" => Base::UuidArray,
            other => return time(other),
        }),
    }
}

/// SQLite's rules of column affinity, in their order.
fn affinity(name: &str) -> Option<Base> {
    let has = |part: &str| name.contains(part);
    if has("int") {
        Some(Base::Int64)
    } else if has("char") || has("clob") || has("text") {
        Some(Base::Text)
    } else if has("blob") {
        Some(Base::Bytes)
    } else if has("real") || has("floa") || has("doub") {
        Some(Base::Float64)
    } else if has("bool") {
        Some(Base::Bool)
    } else if has("json") {
        Some(Base::Json)
    } else {
        None
    }
}

/// The type of a number as written.
pub(super) fn number(dialect: Dialect, text: &str) -> Base {
    let digits = text.replace('_', "");
    let whole = !digits.starts_with("0x") && digits.contains(['.', 'e', 'E']);
    match dialect {
        Dialect::Sqlite if whole => Base::Float64,
        Dialect::Sqlite => Base::Int64,
        Dialect::Pg if whole => Base::Numeric,
        Dialect::Pg if digits.parse::<i32>().is_ok() => Base::Int32,
        Dialect::Pg if digits.parse::<i64>().is_ok() => Base::Int64,
        Dialect::Pg => Base::Numeric,
    }
}

fn is_time(base: &Option<Base>) -> bool {
    base.as_ref().is_some_and(Base::is_time)
}

fn stored(base: &Option<Base>) -> Option<Stored> {
    base.as_ref().and_then(Base::stored)
}

/// SQLite calculates with what it holds for times: a number of them and a time make a time, two times make a number.
fn calculated(op: &str, left: Option<Base>, right: Option<Base>, nullable: bool) -> Option<Type> {
    let time = match (op, stored(&left), stored(&right)) {
        ("+" | "-", Some(time), None) => Some(time),
        ("+", None, Some(time)) => Some(time),
        _ => None,
    };
    if let Some(time) = time.filter(|time| *time.form.seen() != Base::Text) {
        return Some(Type { base: Base::Stored(time), nullable });
    }
    let seen = |base: Option<Base>| base.map(|base| base.seen().clone());
    binary(Dialect::Sqlite, op, seen(left), seen(right), nullable)
}

/// The type that holds values of both, where the dialect mixes them.
pub(super) fn widest(a: Option<Base>, b: Option<Base>) -> Option<Base> {
    let (Some(a), Some(b)) = (a.clone(), b.clone()) else { return a.or(b) };
    match (rank(&a), rank(&b)) {
        (Some(x), Some(y)) => Some(if x >= y { a } else { b }),
        _ if a == b => Some(a),
        (Some(_), None) if matches!(b, Base::Stored(_)) => Some(b),
        // A text literal takes the other side's type on Postgres; JSON in text on SQLite stays JSON.
        (_, _) if a == Base::Text => Some(b),
        _ => Some(a),
    }
}

fn rank(base: &Base) -> Option<u8> {
    Some(match base {
        Base::Bool => 0,
        Base::Int16 => 1,
        Base::Int32 => 2,
        Base::Int64 => 3,
        Base::Numeric => 4,
        Base::Float64 => 5,
        _ => return None,
    })
}

/// Operators that answer yes or no.
const TESTS: [&str; 24] = [
    "=", "<>", "<", "<=", ">", ">=", "and", "or", "@>", "<@", "?", "?|", "?&", "&&", "~", "~*", "!~", "!~*", "@@",
    "@?", "match", "regexp", "overlaps", "^@",
];

/// The type of `left op right`. An operand of unknown type is `None`; `nullable` says whether either may be NULL.
pub(super) fn binary(
    dialect: Dialect,
    op: &str,
    left: Option<Base>,
    right: Option<Base>,
    nullable: bool,
) -> Option<Type> {
    use Base::{Bool, Bytes, Float64, Int64, Int64Array, Interval, Json, Text, TextArray, Uuid, UuidArray};
    if TESTS.contains(&op) {
        return Some(Type { base: Bool, nullable });
    }
    let array = |base: &Base| matches!(base, TextArray | Int64Array | UuidArray);
    let base = match op {
        "is distinct from" | "is not distinct from" => return Some(Type::required(Bool)),
        "->" | "#>" => return Some(Type::optional(Json)),
        "->>" | "#>>" => return Some(Type::optional(Text)),
        "#-" => Json,
        "||" => match (left, right) {
            _ if dialect == Dialect::Sqlite => Text,
            (Some(Json), _) | (_, Some(Json)) => Json,
            (Some(a), _) if array(&a) => a,
            (_, Some(b)) if array(&b) => b,
            (Some(Bytes), _) | (_, Some(Bytes)) => Bytes,
            _ => Text,
        },
        "[]" => match left? {
            TextArray => return Some(Type::optional(Text)),
            Int64Array => return Some(Type::optional(Int64)),
            UuidArray => return Some(Type::optional(Uuid)),
            Json => return Some(Type::optional(Json)),
            _ => return None,
        },
        "at time zone" => match left {
            Some(Base::Timestamp) => Base::DateTime,
            _ => Base::Timestamp,
        },
        "^" => Float64,
        "-" if left == Some(Json) => Json,
        "-" if dialect == Dialect::Pg && left == Some(Base::Date) && right == Some(Base::Date) => Base::Int32,
        "-" if dialect == Dialect::Pg && is_time(&left) && is_time(&right) => Interval,
        "+" | "-" if dialect == Dialect::Pg && (is_time(&left) || is_time(&right)) => {
            let (time, other) = if is_time(&left) { (left?, right) } else { (right?, left) };
            match (time, other) {
                (Base::Date, Some(Interval)) => Base::DateTime,
                (time, _) => time,
            }
        }
        "+" | "-" | "*" | "/" if left == Some(Interval) || right == Some(Interval) => Interval,
        "+" | "-" | "*" | "/" | "%" if stored(&left).is_some() || stored(&right).is_some() => {
            return calculated(op, left, right, nullable);
        }
        "+" | "-" | "*" | "/" | "%" | "&" | "|" | "<<" | ">>" | "#" => match (left, right) {
            // SQLite calculates with what is in a text, and nothing says what that is.
            (Some(Text | Json), other) | (other, Some(Text | Json)) => other.filter(|base| rank(base).is_some())?,
            (left, right) => match widest(left, right)? {
                Bool => Int64,
                base => base,
            },
        },
        _ => return None,
    };
    Some(Type { base, nullable })
}
