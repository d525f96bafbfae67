//! Changes of a column's type that keep the stored bytes, as Postgres has them: its rows are then left as they are.

/// A declared type: its name, one for all spellings, and what stands in its brackets.
#[derive(Debug, PartialEq, Eq)]
struct Declared {
    name: String,
    length: Vec<u32>,
}

/// Other spellings of a type's name.
const SPELLINGS: [(&str, &str); 14] = [
    ("character varying", "varchar"),
    ("char varying", "varchar"),
    ("character", "char"),
    ("bpchar", "char"),
    ("bit varying", "varbit"),
    ("int", "integer"),
    ("int4", "integer"),
    ("int8", "bigint"),
    ("int2", "smallint"),
    ("decimal", "numeric"),
    ("dec", "numeric"),
    ("bool", "boolean"),
    ("timestamp with time zone", "timestamptz"),
    ("timestamp without time zone", "timestamp"),
];

/// Types with a limit that may be raised or taken away in place.
const LIMITED: [&str; 6] = ["varchar", "varbit", "timestamp", "timestamptz", "time", "interval"];

impl Declared {
    fn of(text: &str) -> Self {
        let text = text.trim().to_lowercase();
        let (name, rest) = text.split_once('(').map_or((text.as_str(), ""), |(name, rest)| (name, rest));
        let (inside, behind) = rest.split_once(')').unwrap_or_default();
        let whole = format!("{} {}", name.trim(), behind.trim()).trim().to_owned();
        let known = SPELLINGS.iter().find(|(other, _)| *other == whole).map(|(_, name)| *name);
        let length = inside.split(',').filter_map(|number| number.trim().parse().ok()).collect();
        Self { name: known.map_or(whole, str::to_owned), length }
    }
}

/// Whether rows of the old type are rows of the new one as they are stored.
pub(super) fn keeps_rows(old: &str, new: &str) -> bool {
    let (old, new) = (Declared::of(old), Declared::of(new));
    let is = |from: &str, to: &str| old.name == from && new.name == to;
    if old == new {
        return true;
    }
    if is("varchar", "text") || is("cidr", "inet") || is("xml", "text") {
        return true;
    }
    if is("text", "varchar") || is("numeric", "numeric") && new.length.is_empty() {
        return new.length.is_empty();
    }
    if is("numeric", "numeric") {
        // The digits behind the point stay what they are.
        let point = |declared: &Declared| declared.length.get(1).copied().unwrap_or(0);
        return !old.length.is_empty() && new.length[0] >= old.length[0] && point(&old) == point(&new);
    }
    let has_room = || match (old.length.first(), new.length.first()) {
        (_, None) => true,
        (Some(old), Some(new)) => new >= old,
        (None, Some(_)) => false,
    };
    old.name == new.name && LIMITED.contains(&new.name.as_str()) && has_room()
}

#[cfg(test)]
mod tests {
    use super::keeps_rows;

    #[test]
    fn a_limit_that_is_raised_keeps_the_rows_and_another_form_does_not() {
        for (old, new) in [
            ("varchar(10)", "varchar(20)"),
            ("varchar(10)", "text"),
            ("character varying(10)", "VARCHAR"),
            ("text", "varchar"),
            ("numeric(10, 2)", "numeric(12,2)"),
            ("decimal(10)", "numeric"),
            ("timestamp(0) with time zone", "timestamptz"),
            ("int4", "integer"),
        ] {
            assert!(keeps_rows(old, new), "{old} {new}");
        }
        for (old, new) in [
            ("varchar(20)", "varchar(10)"),
            ("text", "varchar(10)"),
            ("numeric", "numeric(10,2)"),
            ("numeric(10,2)", "numeric(12,3)"),
            ("integer", "bigint"),
            ("char(5)", "text"),
            ("text", "jsonb"),
            ("timestamp", "timestamptz"),
            ("text[]", "varchar[]"),
        ] {
            assert!(!keeps_rows(old, new), "{old} {new}");
        }
    }
}
