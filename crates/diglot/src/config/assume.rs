//! `[assume]`: what no program of the project writes, though the schemas would let it in.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::value::microseconds;

/// Something that may be assumed of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assumption {
    /// No number is at the end of a width, so that sums and products fit.
    NumbersFit,
    /// No floating-point number is NaN, infinite or −0.
    FloatsAreFinite,
    /// No document is a list, a number, a text, a truth value or null as a whole.
    DocumentsAreObjects,
    /// A member of a document is of the kind that the pages take it for, and whole numbers are written without a point.
    MembersKeepKind,
    /// Times lie in a range.
    TimesBetween,
    /// Times have no fraction of a second.
    TimesInSeconds,
    /// No text has a NUL character.
    TextsHaveNoNul,
}

impl Assumption {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::NumbersFit,
        Self::FloatsAreFinite,
        Self::DocumentsAreObjects,
        Self::MembersKeepKind,
        Self::TimesBetween,
        Self::TimesInSeconds,
        Self::TextsHaveNoNul,
    ];

    /// The key below `[assume]`.
    pub fn key(self) -> &'static str {
        match self {
            Self::NumbersFit => "numbers_fit",
            Self::FloatsAreFinite => "floats_are_finite",
            Self::DocumentsAreObjects => "documents_are_objects",
            Self::MembersKeepKind => "members_keep_kind",
            Self::TimesBetween => "times_between",
            Self::TimesInSeconds => "times_in_seconds",
            Self::TextsHaveNoNul => "texts_have_no_nul",
        }
    }

    /// The assumption of a key.
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|assumption| assumption.key() == key)
    }

    /// The words that go on after "it is assumed that".
    pub fn says(self) -> &'static str {
        match self {
            Self::NumbersFit => "numbers and sums fit",
            Self::FloatsAreFinite => "floating-point numbers are finite",
            Self::DocumentsAreObjects => "documents are objects",
            Self::MembersKeepKind => "members of documents keep their kind",
            Self::TimesBetween => "times lie in the range that is declared",
            Self::TimesInSeconds => "times are whole seconds",
            Self::TextsHaveNoNul => "texts have no NUL",
        }
    }

    /// What data look like that it excludes.
    pub fn excluded(self) -> &'static str {
        match self {
            Self::NumbersFit => "a number at the end of its width",
            Self::FloatsAreFinite => "a number that is NaN, infinite or −0",
            Self::DocumentsAreObjects => "a document that is no object",
            Self::MembersKeepKind => "a member of a document that is of another kind",
            Self::TimesBetween => "a time far from today",
            Self::TimesInSeconds => "a fraction of a second",
            Self::TextsHaveNoNul => "a text with a NUL character",
        }
    }

    /// The line that states it of the whole project.
    pub fn line(self) -> String {
        match self {
            Self::TimesBetween => format!("{} = [\"{}\", \"{}\"]", self.key(), RANGE.0, RANGE.1),
            _ => format!("{} = true", self.key()),
        }
    }

    /// The line that states it of these places alone.
    pub fn line_of<'p>(self, places: impl Iterator<Item = &'p str>) -> String {
        let range = format!(" = [\"{}\", \"{}\"]", RANGE.0, RANGE.1);
        match self {
            Self::TimesBetween => {
                let each = places.map(|place| format!("\"{place}\"{range}")).collect::<Vec<_>>().join(", ");
                format!("{} = {{ {each} }}", self.key())
            }
            _ => {
                let each = places.map(|place| format!("\"{place}\"")).collect::<Vec<_>>().join(", ");
                format!("{} = [{each}]", self.key())
            }
        }
    }
}

/// The range of times that is offered to whoever states none.
const RANGE: (&str, &str) = ("1970-01-01", "2100-01-01");

/// The table `[assume]`. A place is a table, `table.column` or `statement.parameter`; a star stands for any letters.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Assume {
    /// No number is at the end of a width, so that sums and products fit.
    numbers_fit: Where,
    /// No floating-point number is NaN, infinite or −0.
    floats_are_finite: Where,
    /// No document is a list, a number, a text, a truth value or null as a whole.
    documents_are_objects: Where,
    /// A member of a document is of the kind that the pages take it for, and whole numbers are written without a point.
    members_keep_kind: Where,
    /// Times lie between two dates, the second not included: `["1970-01-01", "2100-01-01"]`, or a line for each place.
    times_between: Ranges,
    /// Times have no fraction of a second.
    times_in_seconds: Where,
    /// No text has a NUL character.
    texts_have_no_nul: Where,
}

/// Of what something is assumed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(with = "super::schema::Or<bool, Vec<String>>"))]
enum Where {
    /// Of nothing.
    #[default]
    Nowhere,
    /// Of the whole project.
    Everywhere,
    /// Of these places.
    Places(Vec<String>),
}

/// From which time on and before which, by place; the empty place is the whole project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(
    test,
    derive(schemars::JsonSchema),
    schemars(with = "super::schema::Or<[String; 2], BTreeMap<String, [String; 2]>>")
)]
struct Ranges(BTreeMap<String, [String; 2]>);

impl Assume {
    /// Whether nothing is assumed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether something is assumed of a column of a table, or of a parameter of a statement. Times have a
    /// [range](Self::times).
    pub fn holds(&self, what: Assumption, owner: &str, name: &str) -> bool {
        match self.where_of(what) {
            None => self.times(owner, name).is_some(),
            Some(Where::Nowhere) => false,
            Some(Where::Everywhere) => true,
            Some(Where::Places(places)) => places.iter().any(|place| is_of(place, owner, name)),
        }
    }

    /// Between which microseconds since 1970 a column's or a parameter's times lie; the second is not among them.
    pub fn times(&self, owner: &str, name: &str) -> Option<(i64, i64)> {
        let fitting = self.times_between.0.iter().filter(|(place, _)| place.is_empty() || is_of(place, owner, name));
        let (_, [from, to]) = fitting.max_by_key(|(place, _)| place.len())?;
        microseconds(from).zip(microseconds(to))
    }

    /// Everything that is said of a table or a statement, and of all.
    pub(crate) fn said_of(&self, is_meant: impl Fn(&str) -> bool) -> String {
        let owner = |place: &str| place.split('.').next().is_none_or(|owner| owner.contains('*') || is_meant(owner));
        let mut said = String::new();
        for what in Assumption::ALL {
            match self.where_of(what) {
                Some(Where::Everywhere) => said.push_str(what.key()),
                Some(Where::Places(places)) => {
                    let places: Vec<&String> = places.iter().filter(|place| owner(place)).collect();
                    if !places.is_empty() {
                        said.push_str(&format!("{}{places:?}", what.key()));
                    }
                }
                Some(Where::Nowhere) | None => {}
            }
        }
        for (place, range) in self.times_between.0.iter().filter(|(place, _)| place.is_empty() || owner(place)) {
            said.push_str(&format!("{place}{range:?}"));
        }
        said
    }

    /// The first line that cannot be meant, with its key.
    pub(super) fn fault(&self) -> Option<(String, String)> {
        for what in Assumption::ALL {
            let Some(Where::Places(places)) = self.where_of(what) else { continue };
            if let Some(message) = places.iter().find_map(|place| place_fault(place)) {
                return Some((what.key().to_owned(), message));
            }
        }
        for (place, [from, to]) in &self.times_between.0 {
            let message = match (microseconds(from), microseconds(to)) {
                _ if !place.is_empty() && place_fault(place).is_some() => place_fault(place),
                (Some(first), Some(end)) if first < end => None,
                (Some(_), Some(_)) => Some(format!("no time is between {from} and {to}: write the earlier one first")),
                (first, _) => {
                    let wrong = if first.is_none() { from } else { to };
                    Some(format!("`{wrong}` is no date: write one as \"2100-01-31\""))
                }
            };
            let key = if place.is_empty() { Assumption::TimesBetween.key() } else { place };
            if let Some(message) = message {
                return Some((key.to_owned(), message));
            }
        }
        None
    }

    fn where_of(&self, what: Assumption) -> Option<&Where> {
        Some(match what {
            Assumption::NumbersFit => &self.numbers_fit,
            Assumption::FloatsAreFinite => &self.floats_are_finite,
            Assumption::DocumentsAreObjects => &self.documents_are_objects,
            Assumption::MembersKeepKind => &self.members_keep_kind,
            Assumption::TimesInSeconds => &self.times_in_seconds,
            Assumption::TextsHaveNoNul => &self.texts_have_no_nul,
            Assumption::TimesBetween => return None,
        })
    }
}

/// Whether a place stands for a column or a parameter.
fn is_of(place: &str, owner: &str, name: &str) -> bool {
    match place.split_once('.') {
        Some((of, what)) => super::matches(of, owner) && super::matches(what, name),
        None => super::matches(place, owner),
    }
}

fn place_fault(place: &str) -> Option<String> {
    let is_name = |name: &str| {
        let is_letter = |c: char| c == '_' || c == '*' || (c.is_alphanumeric() && !c.is_uppercase());
        !name.is_empty() && name.chars().all(is_letter)
    };
    let is_place = place.split('.').count() <= 3 && place.split('.').all(is_name);
    (!is_place).then(|| {
        format!(
            "`{place}` is no place: write \"table\", \"table.column\" or \"statement.parameter\", in lower case, or \
             `true` for the whole project"
        )
    })
}

impl<'de> Deserialize<'de> for Where {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WhereVisitor)
    }
}

struct WhereVisitor;

impl<'de> Visitor<'de> for WhereVisitor {
    type Value = Where;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`true` for the whole project, or a list of tables and columns: [\"account\", \"job.size\"]")
    }

    fn visit_bool<E: Error>(self, is: bool) -> Result<Where, E> {
        Ok(if is { Where::Everywhere } else { Where::Nowhere })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Where, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Where::Places)
    }
}

impl<'de> Deserialize<'de> for Ranges {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RangesVisitor)
    }
}

struct RangesVisitor;

impl<'de> Visitor<'de> for RangesVisitor {
    type Value = Ranges;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("two dates, [\"1970-01-01\", \"2100-01-01\"], or a table with two dates for each place")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Ranges, A::Error> {
        let range = <[String; 2]>::deserialize(SeqAccessDeserializer::new(list))?;
        Ok(Ranges([(String::new(), range)].into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Ranges, A::Error> {
        BTreeMap::deserialize(MapAccessDeserializer::new(map)).map(Ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::super::tests::fault;
    use super::*;

    fn read(lines: &str) -> Assume {
        Config::parse(&format!("[assume]\n{lines}\n"), "diglot.toml").unwrap().assume
    }

    #[test]
    fn an_assumption_is_made_of_the_project_a_table_or_a_column() {
        let assume =
            read("numbers_fit = true\ndocuments_are_objects = [\"job.spec\", \"event\"]\nfloats_are_finite = false");
        assert!(assume.holds(Assumption::NumbersFit, "any", "thing"));
        let is_object = |owner: &str, name: &str| assume.holds(Assumption::DocumentsAreObjects, owner, name);
        assert!(is_object("job", "spec") && is_object("event", "body") && !is_object("job", "other"));
        assert!(!assume.holds(Assumption::FloatsAreFinite, "job", "spec") && !assume.is_empty());
        assert!(read("").is_empty());
    }

    #[test]
    fn the_line_that_names_more_says_when_times_are() {
        let all = read("times_between = [\"1970-01-01\", \"2100-01-01\"]");
        assert_eq!(all.times("job", "due"), Some((0, 4_102_444_800_000_000)));
        let one = read("[assume.times_between]\n\"job.due\" = [\"1970-01-02\", \"1970-01-03\"]");
        assert_eq!(one.times("job", "due"), Some((86_400_000_000, 172_800_000_000)));
        assert_eq!(one.times("job", "made"), None);
        assert!(one.holds(Assumption::TimesBetween, "job", "due"));
    }

    #[test]
    fn the_line_of_every_assumption_is_read() {
        for what in Assumption::ALL {
            assert_eq!(Assumption::of_key(what.key()), Some(what));
            let whole = read(&what.line());
            assert!(whole.holds(what, "job", "spec") && whole.fault().is_none(), "{}", what.line());
            let line = what.line_of(["job.spec", "event.body"].into_iter());
            let some = read(&line);
            assert!(some.holds(what, "event", "body") && !some.holds(what, "event", "id"), "{line}");
        }
    }

    #[test]
    fn what_is_said_of_others_is_not_said_of_a_table() {
        let assume = read("numbers_fit = [\"job.size\"]\ndocuments_are_objects = [\"*.spec\"]");
        let said = |table: &str| assume.said_of(|owner| owner == table);
        assert!(said("job").contains("numbers_fit") && said("job").contains("documents_are_objects"));
        assert!(!said("event").contains("numbers_fit") && said("event").contains("documents_are_objects"));
    }

    #[test]
    fn what_cannot_be_meant_is_told_with_its_line_and_the_way_out() {
        let told = |lines: &str| fault(&format!("[assume]\n{lines}\n"));
        assert_eq!(
            told("numbers_fits = true"),
            "diglot.toml:2:1: unknown field `numbers_fits`, expected one of `numbers_fit`, `floats_are_finite`, \
             `documents_are_objects`, `members_keep_kind`, `times_between`, `times_in_seconds`, `texts_have_no_nul`"
        );
        assert_eq!(
            told("numbers_fit = \"yes\""),
            "diglot.toml:2:15: invalid type: string \"yes\", expected `true` for the whole project, or a list of tables and \
             columns: [\"account\", \"job.size\"]"
        );
        assert_eq!(
            told("\nnumbers_fit = [\"Account.x\"]"),
            "diglot.toml:3:1: `Account.x` is no place: write \"table\", \"table.column\" or \"statement.parameter\", in lower \
             case, or `true` for the whole project"
        );
        assert!(told("times_between = true").contains(", expected two dates, [\"1970-01-01\", \"2100-01-01\"]"));
        assert_eq!(
            told("times_between = [\"1970\", \"2100-01-01\"]"),
            "diglot.toml:2:1: `1970` is no date: write one as \"2100-01-31\""
        );
        assert_eq!(
            told("times_between = [\"2100-01-01\", \"1970-01-01\"]"),
            "diglot.toml:2:1: no time is between 2100-01-01 and 1970-01-01: write the earlier one first"
        );
    }
}
