//! What stands in the place of a part that only the running program knows, where `diglot.toml` says what it gives.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;

use super::expression::{ALSO, Piece};
use super::marks::{self, MARKS};
use super::place;

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
        path.split(ALSO).any(|path| {
            let is_qualified = said.contains('.') && path.strip_prefix(said).is_some_and(|rest| rest.starts_with('.'));
            said == path || path.rsplit(['.', ':']).next() == Some(said) || is_qualified
        })
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
    /// Conditions that nobody reads, with the code that gives them, and what that is called.
    pub(super) unread: Vec<(Range<usize>, String, String)>,
    /// The numbers of parameters that are known at run time alone, by where the program says them.
    numbers: BTreeMap<(usize, usize), usize>,
    /// Whether the text is within the quotes of a value that only the running program knows.
    is_within_value: bool,
    /// Whether the text marks its parameters by `$1` or `?`.
    is_numbered: bool,
    /// Whether it marks them by names, `:bay`.
    is_named: bool,
    /// The marks of values, by how the program writes them.
    values: BTreeMap<String, String>,
    /// The names of lists so far.
    lists: Vec<String>,
    conditions: usize,
    /// How much of what comes next belongs to what is left out.
    passed: usize,
}

impl Composed {
    pub(super) fn new(pieces: &[Piece], built: &Built) -> Self {
        let is_mark = |(at, mark): (usize, &str), text: &str| {
            let next = text[at + mark.len()..].chars().next();
            mark == "?" || next.is_none_or(|next| next.is_ascii_digit())
        };
        let is_numbered = pieces.iter().any(|piece| match piece {
            Piece::Known { text, .. } => text.match_indices(['$', '?']).any(|found| is_mark(found, text)),
            piece => marks::is_list(std::slice::from_ref(piece)),
        });
        let is_named = pieces.iter().any(|piece| match piece {
            Piece::Known { text, .. } => text.match_indices([':', '@']).any(|(at, _)| {
                let is_first = !text[..at].ends_with([':', '@']);
                is_first && text[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic())
            }),
            _ => false,
        });
        let mut whole = Self { is_numbered, is_named, ..Self::default() };
        for (at, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Known { text, place } => whole.push(text, place),
                // Lists and choices are written out before.
                Piece::List { place, .. } | Piece::Choice { place, .. } => whole.push("", place),
                Piece::Hole { path, code, place } => {
                    // A literal with escapes is in several pieces.
                    let known = |piece: &Piece| match piece {
                        Piece::Known { text, .. } => Some(text.clone()),
                        _ => None,
                    };
                    let mut next: String = pieces[at + 1..].iter().map_while(known).collect();
                    if let (true, Some(piece)) = (next.is_empty(), pieces.get(at + 1)) {
                        next = piece.code().to_owned();
                    }
                    whole.fill(path, code, place, &next, built);
                }
            }
        }
        whole
    }

    fn push(&mut self, text: &str, place: &Range<usize>) {
        let mut from = self.passed.min(text.len());
        self.passed -= from;
        if self.is_within_value {
            // What stands in the quotes of a value belongs to it.
            let Some(end) = text.find('\'') else { return };
            self.is_within_value = false;
            from = end + 1;
        }
        let start = self.text.len();
        self.text.push_str(&text[from..]);
        let moved = if text.len() == place.len() { from } else { 0 };
        self.origins.push((start..self.text.len(), place.start + moved..place.end));
    }

    /// Whether a part is the schema before a name, which is left out: `"{schema}".lot`, `{schema}.lot`.
    fn qualifies(&mut self, next: &str) -> bool {
        // A quote that is written with an escape has a blank behind it.
        let shown = self.text.trim_end();
        let opened = ['"', '`'].into_iter().find(|quote| shown.ends_with(*quote)).map(|quote| (quote, shown.len() - 1));
        let before = shown.trim_end_matches(['"', '`']).trim_end();
        if !["FROM", "JOIN", "INTO", "UPDATE", "TABLE", "ON", "ONLY", "EXISTS", "REFERENCES"]
            .contains(&place::last_word(before).as_str())
        {
            return false;
        }
        let rest = match opened {
            Some((quote, _)) => next.strip_prefix(quote).and_then(|rest| rest.trim_start().strip_prefix('.')),
            None if self.text.ends_with([' ', '\n', '\t', '(', ',']) => next.strip_prefix('.'),
            None => None,
        };
        let is_name = |rest: &str| rest.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '"' || c == '`');
        let Some(rest) = rest.filter(|rest| is_name(rest)) else { return false };
        if let Some((_, at)) = opened {
            self.cut(at);
        }
        self.passed = next.len() - rest.len();
        true
    }

    fn fill(&mut self, path: &str, code: &str, place: &Range<usize>, next: &str, built: &Built) {
        if self.is_within_value || self.qualifies(next) {
            return;
        }
        let text = built.texts.iter().find(|(said, _)| Built::names(said, path)).map(|(_, text)| text.clone());
        let text = text.or_else(|| place::names_schema(&self.text).then(|| place::as_name(code)));
        let quote = place::quote(&self.text).filter(|_| text.is_none());
        if let Some(open) = quote.filter(|open| place::takes_value(&self.text[..*open])) {
            self.cut(open);
            let filled = if place::is_list(&self.text) { self.list() } else { self.value(path, code) };
            self.push(&filled, place);
            self.is_within_value = true;
            return;
        }
        let before = self.text.trim_end();
        let word = place::last_word(before);
        let is_value = path != MARKS && place::takes_value(before) && place::ends_value(next);
        let is_list = place::is_list(before)
            && (place::is_closed(next) || Built::has(&built.lists, path) || path == MARKS)
            || word == "IN" && !next.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let is_mark = self.text.ends_with(['$', '?']) && !next.starts_with(|c: char| c.is_alphanumeric());
        let filled = if let Some(text) = text {
            text
        } else if path != MARKS && is_mark {
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
        } else if let Some(row) =
            self.row(before).filter(|_| Built::has(&built.lists, path) || path == MARKS || place::is_closed(next))
        {
            row
        } else if is_list || path == LIST {
            self.list()
        } else if Built::has(&built.conditions, path) || place::joins_conditions(code) {
            self.conditions += 1;
            let name = counted("conditions", self.conditions);
            let upper = before.to_uppercase();
            let join = match word.as_str() {
                "WHERE" | "AND" | "OR" | "NOT" | "HAVING" | "ON" => " ",
                _ if before.ends_with('(') => "",
                _ if upper.split_whitespace().any(|word| word == "WHERE") => " AND ",
                _ => " WHERE ",
            };
            if !Built::has(&built.conditions, path) {
                let start = self.text.len() + join.len();
                self.unread.push((start..start + name.len() + 1, code.to_owned(), path.to_owned()));
            }
            format!("{join}:{name} ")
        } else if ["LIMIT", "OFFSET"].contains(&word.as_str()) || is_value {
            // Whatever the program writes there is one value.
            self.value(path, code)
        } else if place::takes_rows(before, next) {
            // One row stands for all.
            String::new()
        } else {
            let start = self.text.len();
            self.push(&format!("{{{code}}}"), place);
            self.holes.push(start..self.text.len());
            return;
        };
        self.push(&filled, place);
    }

    /// A list behind IN, with its brackets where they are missing.
    fn list(&mut self) -> String {
        let before = self.text.trim_end();
        let name = column_before(before);
        let name = name.filter(|name| !self.lists.contains(name)).unwrap_or_else(|| {
            let taken = |at: &usize| self.lists.contains(&counted("list", *at));
            counted("list", (1..).find(|at| !taken(at)).unwrap_or(1))
        });
        let list = format!("sqlc.slice('{name}')");
        let list = if before.ends_with('(') { list } else { format!("({list})") };
        self.lists.push(name);
        list
    }

    /// A parameter for a value that the program writes: under the name that it has there, unless the text numbers its
    /// parameters or a function gives it, which may give a number. What is named twice is one parameter.
    fn value(&mut self, path: &str, code: &str) -> String {
        let called = code.split('(').next().unwrap_or_default();
        let name = called.rsplit(['.', ':']).next().unwrap_or_default().to_lowercase();
        let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_call = called.len() < code.len();
        // What calls give is another value each time: `placeholder(2)`, `placeholder(3)`.
        if is_name && !self.is_numbered && (self.is_named || !path.contains(ALSO) && !is_call) {
            return format!(":{name}");
        }
        let next = self.parameter();
        match is_call || next == "?" {
            true => next,
            false => self.values.entry(code.to_owned()).or_insert(next).clone(),
        }
    }

    /// Leaves out what stands behind a place.
    fn cut(&mut self, at: usize) {
        self.text.truncate(at);
        for (range, place) in &mut self.origins {
            let cut = range.start.min(at)..range.end.min(at);
            if range.len() == place.len() {
                place.end = place.start + cut.len();
            }
            *range = cut;
        }
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
