//! Values in the text that Postgres writes for them: what a message of several statements answers with.
//!
//! The driver asks for dates in ISO's form, for UTC and for as many digits as a floating-point number needs, so the
//! text says every value exactly.

use std::collections::BTreeMap;

use diglot::value::{Value, microseconds, parse_uuid, spelled};

/// The types of a database by their numbers.
#[derive(Debug, Clone, Default)]
pub struct Types(BTreeMap<u32, (String, Kind)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Int,
    Real,
    Narrow,
    Text,
    Bytes,
    Uuid,
    Json,
    Time,
    Decimal,
    Texts,
    Ints,
    Uuids,
    Other,
}

impl Types {
    /// What the server says of its types: each with its number, its name, and `e` where it is an enum.
    pub const QUERY: &str = "SELECT oid::text, typname::text, typtype::text FROM pg_type";

    /// What the server said of its types.
    pub fn new(types: Vec<(String, String, String)>) -> Self {
        let known = types.into_iter().filter_map(|(number, name, is)| {
            let kind = if is == "e" { Kind::Text } else { kind(&name) };
            Some((number.parse().ok()?, (name, kind)))
        });
        Self(known.collect())
    }

    /// Whether a type is among them.
    pub fn know(&self, number: u32) -> bool {
        self.0.contains_key(&number)
    }

    /// A value of a type, as the server wrote it.
    ///
    /// # Errors
    /// When the text is no value of that type.
    pub fn value(&self, number: u32, text: &str) -> Result<Value, String> {
        let (name, kind) = self.0.get(&number).map_or(("unknown", Kind::Other), |(name, kind)| (name, *kind));
        let refused = || format!("{text:?} is no {name}");
        Ok(match kind {
            Kind::Bool => Value::Bool(text == "t"),
            Kind::Int => Value::Int(text.parse().map_err(|_| refused())?),
            Kind::Real => Value::Real(text.parse().map_err(|_| refused())?),
            Kind::Narrow => Value::Real(text.parse::<f32>().map_err(|_| refused())?.into()),
            Kind::Text => Value::Text(text.to_owned()),
            Kind::Bytes => Value::Bytes(bytes(text).ok_or_else(refused)?),
            Kind::Uuid => Value::Uuid(parse_uuid(text).ok_or_else(refused)?),
            Kind::Json => Value::Json(serde_json::from_str(text).map_err(|error| error.to_string())?),
            Kind::Time => time(text).map_or_else(|| Value::Other(format!("{name} {text}")), Value::Text),
            Kind::Decimal => Value::Other(text.to_owned()),
            Kind::Texts | Kind::Ints | Kind::Uuids => list(text, kind).map_or_else(
                // Of several dimensions, or not counted from 1.
                || Value::Other(format!("{name} {text}")),
                Value::List,
            ),
            Kind::Other => Value::Other(format!("{name} {text}")),
        })
    }
}

fn kind(name: &str) -> Kind {
    match name {
        "bool" => Kind::Bool,
        "int2" | "int4" | "int8" => Kind::Int,
        "float8" => Kind::Real,
        "float4" => Kind::Narrow,
        "text" | "varchar" | "bpchar" | "name" | "unknown" | "citext" => Kind::Text,
        "bytea" => Kind::Bytes,
        "uuid" => Kind::Uuid,
        "json" | "jsonb" => Kind::Json,
        "timestamptz" | "timestamp" | "date" | "time" => Kind::Time,
        "numeric" => Kind::Decimal,
        "_text" | "_varchar" => Kind::Texts,
        "_int4" | "_int8" => Kind::Ints,
        "_uuid" => Kind::Uuids,
        _ => Kind::Other,
    }
}

/// Bytes as `\x00ff`, or as letters with `\000` for those that are none.
fn bytes(text: &str) -> Option<Vec<u8>> {
    if let Some(digits) = text.strip_prefix("\\x") {
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        return digits.as_bytes().chunks(2).map(byte).collect();
    }
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, behind)) = rest.split_first() {
        let (byte, length) = match (first, behind) {
            (b'\\', [b'\\', ..]) => (b'\\', 2),
            (b'\\', digits) => (u8::from_str_radix(std::str::from_utf8(digits.get(..3)?).ok()?, 8).ok()?, 4),
            (byte, _) => (*byte, 1),
        };
        bytes.push(byte);
        rest = &rest[length..];
    }
    Some(bytes)
}

/// A time in UTC with six digits behind the second or none, as [`spelled`] has it.
fn time(text: &str) -> Option<String> {
    let (text, is_before) = text.strip_suffix(" BC").map_or((text, false), |text| (text, true));
    let (day, clock) = match text.split_once(' ') {
        Some((day, clock)) => (day, Some(clock)),
        None if text.contains(':') => ("", Some(text)),
        None => (text, None),
    };
    let day = match is_before {
        true => before(day)?,
        false => day.to_owned(),
    };
    let Some(clock) = clock else { return day.contains('-').then_some(day) };
    let (clock, zone) = match clock.find(['+', '-']) {
        Some(at) => (&clock[..at], seconds(&clock[at..])?),
        None => (clock, 0),
    };
    let clock = match clock.split_once('.') {
        Some((whole, fraction)) => format!("{whole}.{fraction:0<6}"),
        None => clock.to_owned(),
    };
    let whole = if day.is_empty() { clock } else { format!("{day} {clock}") };
    if zone == 0 { Some(whole) } else { Some(spelled(microseconds(&whole)? - zone * 1_000_000)) }
}

/// A day of a year before the first one, with that year as a number: the one before the first is 0.
fn before(day: &str) -> Option<String> {
    let (year, rest) = day.split_once('-')?;
    Some(format!("{:04}-{rest}", 1 - year.parse::<i64>().ok()?))
}

/// The seconds of `+05:30`, or with minutes and seconds left out.
fn seconds(zone: &str) -> Option<i64> {
    let (sign, rest) = zone.split_at_checked(1)?;
    let mut total = 0;
    for (part, unit) in rest.split(':').zip([3_600, 60, 1]) {
        total += part.parse::<i64>().ok()? * unit;
    }
    Some(if sign == "-" { -total } else { total })
}

/// The elements of an array of one dimension.
fn list(text: &str, kind: Kind) -> Option<Vec<Value>> {
    let mut rest = text.strip_prefix('{')?.strip_suffix('}')?;
    let mut values = Vec::new();
    while !rest.is_empty() {
        let item;
        (item, rest) = element(rest)?;
        values.push(match (item, kind) {
            (None, _) => Value::Null,
            (Some(item), Kind::Ints) => Value::Int(item.parse().ok()?),
            (Some(item), Kind::Uuids) => Value::Uuid(parse_uuid(&item)?),
            (Some(item), _) => Value::Text(item),
        });
    }
    Some(values)
}

/// The first element, none for NULL, and what follows.
fn element(text: &str) -> Option<(Option<String>, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let (item, rest) = text.split_once(',').unwrap_or((text, ""));
        let is_plain = !item.contains(['{', '}']);
        return is_plain.then(|| ((item != "NULL").then(|| item.to_owned()), rest));
    };
    let (mut item, mut letters) = (String::new(), quoted.char_indices());
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => item.push(letters.next()?.1),
            '"' => {
                let rest = &quoted[at + 1..];
                return Some((Some(item), rest.strip_prefix(',').unwrap_or(rest)));
            }
            letter => item.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_the_same_in_every_zone() {
        assert_eq!(time("2024-02-29 12:00:00.5+00").as_deref(), Some("2024-02-29 12:00:00.500000"));
        assert_eq!(time("2024-02-29 12:00:00+05:30").as_deref(), Some("2024-02-29 06:30:00"));
        assert_eq!(time("2024-03-01 00:00:00-01").as_deref(), Some("2024-03-01 01:00:00"));
        assert_eq!(time("2024-02-29").as_deref(), Some("2024-02-29"));
        assert_eq!(time("12:00:01").as_deref(), Some("12:00:01"));
        assert_eq!(time("12024-02-29 00:00:00").as_deref(), Some("12024-02-29 00:00:00"));
        assert_eq!(time("0001-12-31 00:00:00 BC").as_deref(), Some("0000-12-31 00:00:00"));
        assert_eq!(time("infinity"), None);
    }

    #[test]
    fn bytes_are_read_in_both_forms() {
        assert_eq!(bytes("\\x00ff").as_deref(), Some([0, 255].as_slice()));
        assert_eq!(bytes("").as_deref(), Some([].as_slice()));
        assert_eq!(bytes("a\\\\\\000b").as_deref(), Some([b'a', b'\\', 0, b'b'].as_slice()));
    }

    #[test]
    fn an_array_has_the_elements_that_were_quoted() {
        let text = |text: &str| Value::Text(text.to_owned());
        assert_eq!(list("{}", Kind::Texts), Some(Vec::new()));
        let items = vec![text("a"), text("b,\"\\{"), Value::Null, text("NULL"), text("")];
        assert_eq!(list(r#"{a,"b,\"\\{",NULL,"NULL",""}"#, Kind::Texts), Some(items));
        assert_eq!(list("{1,-2}", Kind::Ints), Some(vec![Value::Int(1), Value::Int(-2)]));
        assert_eq!(list("{{1},{2}}", Kind::Ints), None);
        assert_eq!(list("[0:1]={1,2}", Kind::Ints), None);
    }
}
