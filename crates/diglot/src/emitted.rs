//! The SQL texts as they go to the drivers.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dialect::Dialect;
use crate::page::{Chooser, RawStatement};
use crate::source::Span;
use crate::types::{Base, Stored, Type};
use crate::value::{Rows, Value};

/// One emitted SQL text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmittedText {
    /// The file's stem.
    pub noun: String,
    /// `noun_verb`.
    pub name: String,
    /// Which optional parts it has.
    pub variant: Variant,
    /// The page.
    pub dialect: Dialect,
    /// Where the statement's name stands.
    pub place: Span,
    /// The text as it goes to the driver.
    pub sql: String,
    /// Where the words of `sql` come from: the byte where each begins, and its place in the file.
    #[serde(skip)]
    pub places: Vec<(usize, Span)>,
    /// Each of its SQL statements alone, without the leading comment, numbered as in the whole.
    #[serde(skip)]
    pub parts: Vec<String>,
    /// Whether the first of `parts` asks the unit's guard, and ends the text with an error if that has no row.
    pub guarded: bool,
    /// Which of `parts` returns rows; none where they are joined.
    pub result: Option<usize>,
    /// How the rows of a unit of SQLite are joined from what its statements return.
    pub joined: Option<JoinedText>,
    /// The parameters that it uses, in the order of their numbers.
    pub params: Vec<TextParam>,
    /// How many NULLs are bound behind the parameters of a unit of SQLite. The driver binds the next argument to every
    /// number that a statement of the unit skips, and stops binding when it has none left.
    pub spare: usize,
    /// Whether it gives the same rows at all times: it reads no table, takes no parameter, and asks neither the clock
    /// nor a locale. `prepare` records the rows of such a text.
    pub constant: bool,
    /// The columns of its result as the API shows them.
    pub columns: Vec<TextColumn>,
    /// What goes to Postgres in its place where its tables are spread over nodes.
    pub steps: Option<StepsText>,
}

/// The steps that a statement takes where its tables are spread over nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepsText {
    /// In their order.
    pub steps: Vec<StepText>,
    /// What the statement gives.
    pub gives: StepsGive,
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepText {
    /// As it goes to the driver. Its name is the statement's with the number of the step, from 1.
    pub text: EmittedText,
    /// The rows for each of which it is done; none where it is done once.
    pub each: Option<RowsOf>,
}

/// Rows that a step gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowsOf {
    /// The place of the step.
    pub step: usize,
    /// Where it gives several rows of rows: the number in their first column, and the place of the column that says
    /// whether there is a row. The values stand behind it.
    pub among: Option<(usize, usize)>,
}

/// What a statement in steps gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepsGive {
    /// Nothing.
    Nothing,
    /// The number of rows that the step of this place has written.
    Count(usize),
    /// The number of these rows.
    CountOf(RowsOf),
    /// Every row of one with every row of the others.
    Rows {
        /// The rows, and whether there may be none.
        sources: Vec<(RowsOf, bool)>,
        /// For each column, which of `sources` has it, and its place there.
        columns: Vec<(usize, usize)>,
    },
}

impl RowsOf {
    /// The place of a value in the step's row.
    pub fn place(&self, value: usize) -> usize {
        self.among.map_or(value, |(_, is_there)| is_there + 1 + value)
    }
}

/// Rows that are joined from what the statements of a text return: every row of one with every row of the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinedText {
    /// Which of `parts` they are from, in the order of FROM, and whether each may have no row.
    pub sources: Vec<(usize, bool)>,
    /// For each column, which of `sources` has it, and its place there.
    pub columns: Vec<(usize, usize)>,
}

/// A parameter of an emitted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextParam {
    /// Its name.
    pub name: String,
    /// Its type in the generated API.
    pub ty: Type,
    /// Whether SQLite gets the ids of this list as their digits, without hyphens.
    pub digits: bool,
    /// How SQLite holds it, where it stands for what SQLite does not have.
    pub stored: Option<Stored>,
    /// How many values it stands for.
    pub holds: Holds,
}

/// How many values a parameter of a text stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Holds {
    /// One.
    Value,
    /// An array for Postgres: of each row that the function takes, the value of one field.
    Field(String),
    /// A JSON document for SQLite: every row that the function takes, an array of the values of these fields.
    Rows(Vec<TextParam>),
    /// One of the row for which a step is done: the value at this place of the row.
    Carried(usize),
    /// An array for Postgres: of each row that a step gave, the value at this place.
    Handed(RowsOf, usize),
}

/// A result column of an emitted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextColumn {
    /// Its name.
    pub name: String,
    /// The type on this page, where known.
    pub base: Option<Base>,
    /// Whether it may be NULL on either page.
    pub nullable: bool,
    /// Declared by `-- column:`, or kept from NULL by a condition: the engine knows less.
    pub declared: bool,
}

/// Which optional parts a text has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// What chooses the parts that it has.
    pub given: Vec<Chooser>,
    /// What chooses the parts that it does without.
    pub left_out: Vec<Chooser>,
}

impl Variant {
    /// The variant that a statement is.
    pub(crate) fn of(raw: &RawStatement) -> Self {
        let mut variant = Self::default();
        for part in &raw.optional {
            let list = if raw.is_left_out(part.span) { &mut variant.left_out } else { &mut variant.given };
            if !list.contains(&part.chooser) {
                list.push(part.chooser.clone());
            }
        }
        variant
    }
}

impl fmt::Display for Variant {
    /// `+lane+state`; nothing where no optional part is there.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.given.iter().try_for_each(|chooser| write!(f, "+{chooser}"))
    }
}

impl JoinedText {
    /// The rows of a statement in steps, from the rows of each of these sources in their order.
    pub fn of_steps(sources: &[(RowsOf, bool)], columns: &[(usize, usize)]) -> Self {
        let place = |(source, place): &(usize, usize)| {
            (*source, sources.get(*source).map_or(*place, |(rows, _)| rows.place(*place)))
        };
        let sources = sources.iter().enumerate().map(|(at, (_, optional))| (at, *optional));
        Self { sources: sources.collect(), columns: columns.iter().map(place).collect() }
    }

    /// The rows of the unit, from what each statement of the text returned.
    pub fn rows(&self, returned: &[Rows]) -> Rows {
        let mut joined: Vec<Vec<Option<&Vec<Value>>>> = vec![Vec::new()];
        for (at, optional) in &self.sources {
            let mut beside: Vec<Option<&Vec<Value>>> = returned.get(*at).into_iter().flatten().map(Some).collect();
            if beside.is_empty() && *optional {
                beside.push(None);
            }
            let with = |row: &Vec<_>| -> Vec<Vec<_>> {
                beside.iter().map(|other| row.iter().copied().chain([*other]).collect()).collect()
            };
            joined = joined.iter().flat_map(with).collect();
        }
        let value = |row: &[Option<&Vec<Value>>], (source, place): &(usize, usize)| {
            row.get(*source).copied().flatten().and_then(|row| row.get(*place)).cloned().unwrap_or(Value::Null)
        };
        joined.iter().map(|row| self.columns.iter().map(|column| value(row, column)).collect()).collect()
    }
}

impl EmittedText {
    /// Its statement's name stands there.
    pub(crate) fn stand_at(&mut self, place: Span) {
        self.place = place;
        let steps = self.steps.iter_mut().flat_map(|steps| &mut steps.steps);
        steps.for_each(|step| step.text.place = place);
    }

    /// The text, and those of its steps.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.steps.iter().flat_map(|steps| steps.steps.iter().map(|step| &step.text)))
    }

    /// What SQLite's error says when a guard has no row: it is a path into a document that is none.
    pub const NO_ROW: &'static str = "no row of the guard";
}

#[cfg(test)]
mod tests {
    use super::JoinedText;
    use crate::value::Value::{Int, Null, Text};

    #[test]
    fn every_row_of_one_comes_with_every_row_of_the_others() {
        let joined =
            JoinedText { sources: vec![(1, false), (0, false), (2, true)], columns: vec![(1, 0), (0, 1), (2, 0)] };
        let word = |text: &str| Text(text.to_owned());
        let first = vec![vec![Int(1)], vec![Int(2)]];
        let second = vec![vec![Int(9), word("a")]];
        assert_eq!(
            joined.rows(&[first.clone(), second.clone(), Vec::new()]),
            [vec![Int(1), word("a"), Null], vec![Int(2), word("a"), Null]]
        );
        let third = vec![vec![Int(5)]];
        let all = joined.rows(&[first.clone(), second, third]);
        assert_eq!(all, [vec![Int(1), word("a"), Int(5)], vec![Int(2), word("a"), Int(5)]]);
        // What ended at its guard returned nothing at all.
        assert_eq!(joined.rows(&[first, Vec::new(), vec![vec![Int(5)]]]), Vec::<Vec<_>>::new());
        assert_eq!(joined.rows(&[]), Vec::<Vec<_>>::new());
    }
}
