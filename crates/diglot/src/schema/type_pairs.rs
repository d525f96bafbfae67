//! Whether two columns' types hold the same values, and what to write where they do not.

use super::{By, Column};
use crate::types::Base;

/// The check of SQLite that says what the length of a `varchar(30)` says.
pub(super) fn bound(pg: &Column) -> Option<String> {
    length(pg).map(|length| format!("<=(length({}), {length})", pg.name))
}

/// The length of a `varchar(30)`.
fn length(pg: &Column) -> Option<usize> {
    let length = ["varchar(", "character varying("].iter().find_map(|name| pg.declared.strip_prefix(name))?;
    length.strip_suffix(')')?.trim().parse().ok()
}

/// Whether every word that a column of SQLite may hold fits into a `varchar(30)`.
pub(super) fn fits(sqlite: &Column, pg: &Column) -> bool {
    let words = sqlite.words.as_ref().filter(|listed| listed.by != By::Settings);
    words.zip(length(pg)).is_some_and(|(listed, most)| listed.words.iter().all(|word| word.chars().count() <= most))
}

/// What is wrong with a pair of types, and what to write.
pub(super) fn fault(sqlite: &Column, pg: &Column) -> Option<(String, String)> {
    let name = pg.declared.split('(').next().unwrap_or_default().trim();
    let same = "declare types that hold the same values in both schemas".to_owned();
    if Base::finer(&sqlite.ty.base, &pg.ty.base).is_none() {
        return Some((format!("`{}` and `{}` do not hold the same values", sqlite.declared, pg.declared), same));
    }
    if matches!(name, "real" | "float4") {
        let why = format!("Postgres keeps 4 bytes of `{}`, SQLite 8", pg.declared);
        return Some((why, "write `double precision` on Postgres".to_owned()));
    }
    if matches!(pg.ty.base, Base::Text) && pg.declared.contains('(') {
        let why = format!("Postgres refuses or pads texts by `{}`, SQLite keeps any text", pg.declared);
        return Some((why, "write `text` on Postgres, with a CHECK of the length in both schemas".to_owned()));
    }
    if matches!(name, "char" | "character" | "bpchar") {
        return Some((format!("Postgres pads texts by `{}`", pg.declared), "write `text` on Postgres".to_owned()));
    }
    let width = match pg.ty.base {
        Base::Int16 => 16,
        Base::Int32 => 32,
        Base::Int64 => 64,
        _ => return collations(sqlite, pg),
    };
    let meant = match sqlite.declared.as_str() {
        "smallint" | "int2" | "tinyint" => Some(16),
        "mediumint" | "int4" => Some(32),
        "bigint" | "int8" => Some(64),
        _ => None,
    };
    if meant.is_some_and(|meant| meant != width) {
        let why = format!("`{}` and `{}` have another width", sqlite.declared, pg.declared);
        return Some((why, same));
    }
    let lasts = |word: &str| LASTING.contains(&word);
    (width < 64 && pg.name.ends_with("_ms") && !pg.name.split('_').any(lasts)).then(|| {
        let why = format!("milliseconds since 1970 do not fit into `{}`", pg.declared);
        (why, "write `bigint` on Postgres".to_owned())
    })
}

/// Words of columns that hold how long something lasts, and not when it happens.
const LASTING: [&str; 12] =
    ["age", "backoff", "delay", "duration", "elapsed", "interval", "lag", "latency", "took", "timeout", "ttl", "wait"];

fn collations(sqlite: &Column, pg: &Column) -> Option<(String, String)> {
    let named = |column: &Column| {
        let name = column.collation.clone().unwrap_or_default();
        let bytes = ["", "binary", "c", "posix", "default", "ucs_basic"].contains(&name.as_str());
        if bytes { String::new() } else { name }
    };
    let (ours, theirs) = (named(sqlite), named(pg));
    // What NOCASE does with the letters of ASCII, `citext` does with all.
    let theirs = if pg.declared == "citext" && theirs.is_empty() { "citext".to_owned() } else { theirs };
    (ours != theirs && (ours.as_str(), theirs.as_str()) != ("nocase", "citext")).then(|| {
        let word = |name: &str| if name.is_empty() { "by bytes".to_owned() } else { format!("by `{name}`") };
        let why = format!("SQLite compares it {}, Postgres {}", word(&ours), word(&theirs));
        (why, "drop the collation, and compare by an expression that both have, such as `lower(x)`".to_owned())
    })
}
