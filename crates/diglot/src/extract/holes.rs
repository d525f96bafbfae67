//! What stands in the place of a part that only the running program knows, where `diglot.toml` says what it gives.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;

use super::expression::Piece;
use super::marks::MARKS;

/// The table `[built]`: what helpers and variables give that take part in texts which are put together.
///
/// Each is named as the code calls it, `placeholders`, or with what stands before it, `strings.Join`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Built {
    /// What gives the items of a list behind `IN`, with or without the brackets.
    pub lists: Vec<String>,
    /// What gives the mark of one parameter: of that number, or else of the next.
    pub parameters: Vec<String>,
    /// What gives conditions, which may be left out, with or without the word before them.
    pub conditions: Vec<String>,
    /// What gives the same text always, or a text that may be taken for all: columns, a table.
    pub texts: BTreeMap<String, String>,
}

impl Built {
    fn names(said: &str, path: &str) -> bool {
        let is_qualified = said.contains('.') && path.strip_prefix(said).is_some_and(|rest| rest.starts_with('.'));
        said == path || path.rsplit(['.', ':']).next() == Some(said) || is_qualified
    }

    fn has(all: &[String], path: &str) -> bool {
        all.iter().any(|said| Self::names(said, path))
    }
}

/// A text that is put together, with the way back to where each part of it is written.
#[derive(Debug, Default)]
pub(super) struct Composed {
    pub(super) text: String,
    /// A part of the text, and the place where it is written.
    pub(super) origins: Vec<(Range<usize>, Range<usize>)>,
    /// The parts that nobody can know.
    pub(super) holes: Vec<Range<usize>>,
    /// The numbers of parameters that are known at run time alone, by where the program says them.
    numbers: BTreeMap<(usize, usize), usize>,
    /// The names of lists so far.
    lists: Vec<String>,
    conditions: usize,
}

impl Composed {
    pub(super) fn new(pieces: &[Piece], built: &Built) -> Self {
        let mut whole = Self::default();
        for (at, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Known { text, place } => whole.push(text, place),
                // Lists are written out before.
                Piece::List { place, .. } => whole.push("", place),
                Piece::Hole { path, code, place } => {
                    let next = pieces[at + 1..].iter().find_map(|piece| match piece {
                        Piece::Known { text, .. } => Some(text.as_str()),
                        Piece::Hole { .. } | Piece::List { .. } => None,
                    });
                    whole.fill(path, code, place, next.unwrap_or_default(), built);
                }
            }
        }
        whole
    }

    fn push(&mut self, text: &str, place: &Range<usize>) {
        let start = self.text.len();
        self.text.push_str(text);
        self.origins.push((start..self.text.len(), place.clone()));
    }

    fn fill(&mut self, path: &str, code: &str, place: &Range<usize>, next: &str, built: &Built) {
        let before = self.text.trim_end();
        let word = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_uppercase();
        let text = built.texts.iter().find(|(said, _)| Built::names(said, path)).map(|(_, text)| text.clone());
        let is_item = word.is_empty() && before.ends_with('(') || word == "IN";
        let filled = if let Some(text) = text {
            text
        } else if path != MARKS && self.text.ends_with(['$', '?']) && !next.starts_with(|c: char| c.is_alphanumeric()) {
            // The number of a parameter, which are counted in the order of the text.
            let next = self.parameters() + 1;
            format!("{}", self.numbers.entry((place.start, place.end)).or_insert(next))
        } else if path == BOUND {
            self.parameter()
        } else if Built::has(&built.parameters, path) {
            let number =
                code.split_once('(').and_then(|(_, rest)| rest.trim_end_matches(')').trim().parse::<usize>().ok());
            number.map_or_else(|| self.parameter(), |number| format!("${number}"))
        } else if path == MARKS && (before.ends_with("(?") || before.ends_with("VALUES") || before.ends_with(')')) {
            return self.fill_marks(code, place);
        } else if let Some(row) = self.row(before).filter(|_| Built::has(&built.lists, path) || path == MARKS) {
            row
        } else if (Built::has(&built.lists, path) || path == MARKS) && is_item || path == LIST {
            let name = column_before(before);
            let name = name.filter(|name| !self.lists.contains(name)).unwrap_or_else(|| {
                let taken = |at: &usize| self.lists.contains(&counted("list", *at));
                counted("list", (1..).find(|at| !taken(at)).unwrap_or(1))
            });
            let list = format!("sqlc.slice('{name}')");
            self.lists.push(name);
            if before.ends_with('(') { list } else { format!("({list})") }
        } else if Built::has(&built.conditions, path) {
            self.conditions += 1;
            let name = counted("conditions", self.conditions);
            let upper = before.to_uppercase();
            let join = match word.as_str() {
                "WHERE" | "AND" | "OR" | "NOT" | "HAVING" | "ON" => " ",
                _ if before.ends_with('(') => "",
                _ if upper.split_whitespace().any(|word| word == "WHERE") => " AND ",
                _ => " WHERE ",
            };
            format!("{join}:{name} ")
        } else if ["LIMIT", "OFFSET"].contains(&word.as_str()) {
            // Whatever the program writes there is one number.
            self.parameter()
        } else {
            let start = self.text.len();
            self.push(&format!("{{{code}}}"), place);
            self.holes.push(start..self.text.len());
            return;
        };
        self.push(&filled, place);
    }

    /// Marks behind the first of them: the other items of a list, or the other rows of VALUES.
    fn fill_marks(&mut self, code: &str, place: &Range<usize>) {
        let before = self.text.trim_end().len();
        let rows = self.text.to_uppercase().rfind("VALUES").map(|at| self.text[at..].to_uppercase());
        let is_row = rows.is_some_and(|rows| !rows.contains("SELECT") && !rows.contains(" WHERE"));
        if self.text[..before].ends_with("(?") && !is_row {
            self.text.truncate(before - 1);
            self.fill(LIST, code, place, "", &Built::default());
        } else if is_row && self.text[..before].ends_with(')') {
            // One row stands for all.
        } else {
            let start = self.text.len();
            let row = code.trim_matches(|c: char| c == ',' || c.is_whitespace());
            self.push(row, place);
            if !is_row || !row.contains('?') {
                self.holes.push(start..self.text.len());
            }
        }
    }

    /// A parameter for each column of an INSERT whose row begins here.
    fn row(&self, before: &str) -> Option<String> {
        let head = before.strip_suffix('(')?.trim_end();
        let at = head.len().checked_sub("VALUES".len())?;
        let columns = head.get(..at)?.trim_end().strip_suffix(')')?;
        if !head.get(at..)?.eq_ignore_ascii_case("VALUES") {
            return None;
        }
        let count = columns.get(columns.rfind('(')? + 1..)?.split(',').count();
        let marks: Vec<String> = match self.parameter().as_str() {
            "?" => vec!["?".to_owned(); count],
            _ => (1..=count).map(|at| format!("${}", self.parameters() + at)).collect(),
        };
        Some(marks.join(", "))
    }

    /// The mark of the next parameter, as the text marks the others.
    fn parameter(&self) -> String {
        let is_bare = |(at, _): (usize, &str)| !self.text[at + 1..].starts_with(|c: char| c.is_ascii_digit());
        match self.text.match_indices('?').any(is_bare) {
            true => "?".to_owned(),
            false => format!("${}", self.parameters() + 1),
        }
    }

    /// The greatest number of a parameter so far.
    fn parameters(&self) -> usize {
        let behind = self.text.split(['$', '?']).skip(1);
        let numbers = behind.filter_map(|rest| {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            rest[..digits].parse::<usize>().ok()
        });
        numbers.max().unwrap_or_default()
    }
}

/// A value that is bound where it stands.
pub(super) const BOUND: &str = "\u{0}bound";
/// Values that are bound one behind the other.
pub(super) const LIST: &str = "\u{0}list";

/// The column of which a list behind IN is: a parameter of the facing page that meets it is named so.
fn column_before(text: &str) -> Option<String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    let mut back = words.rev().skip_while(|word| ["IN", "NOT"].contains(&word.to_uppercase().as_str()));
    back.next().filter(|word| !word.starts_with(|c: char| c.is_ascii_digit())).map(str::to_lowercase)
}

fn counted(name: &str, count: usize) -> String {
    if count == 1 { name.to_owned() } else { format!("{name}_{count}") }
}
