//! The triggers and functions of a Postgres schema, as migrations have them.

use std::collections::BTreeSet;

use super::Schema;
use crate::dialect::Dialect;
use crate::engine::Stability;
use crate::source::Span;
use crate::split::lexer::{self, Kind, Token};

/// A function as a migration has it.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    /// Its name in lower case.
    pub(crate) name: String,
    /// Its parameters' names.
    pub(crate) params: Vec<String>,
    /// `sql`, `plpgsql`, ….
    pub(crate) language: String,
    /// What it does, without quotes; none where it stands in a library.
    pub(crate) body: Option<String>,
    /// How long it gives the same, as it says itself.
    pub(crate) stability: Stability,
    /// Its CREATE.
    pub(crate) span: Span,
}

/// A trigger.
#[derive(Debug, Clone)]
pub(crate) struct Trigger {
    /// Its name in lower case.
    pub(crate) name: String,
    /// Its table.
    pub(crate) table: String,
    /// Whether it runs before the row is written.
    pub(crate) before: bool,
    /// `insert`, `update`, `delete`, `truncate`.
    pub(crate) events: Vec<String>,
    /// UPDATE OF.
    pub(crate) of: Vec<String>,
    /// WHEN.
    pub(crate) when: Option<String>,
    /// The function that it runs.
    pub(crate) function: String,
}

/// A statement of a migration that makes, alters or drops a trigger or a function, taken into the schema.
pub(super) fn read(schema: &mut Schema, text: &str, span: Span) {
    let words = Words::of(text);
    let mut at = 1;
    if words.is(0, "alter") {
        return alter(schema, &words);
    }
    if words.is(0, "drop") {
        let is_trigger = words.is(at, "trigger");
        if !is_trigger && !words.is(at, "function") {
            return;
        }
        at += if words.is(at + 1, "if") { 3 } else { 1 };
        let (name, _) = words.name(at);
        if is_trigger {
            schema.triggers.retain(|trigger| trigger.name != name);
        } else {
            schema.functions.remove(&name);
        }
        return;
    }
    while words.is(at, "or") || words.is(at, "replace") || words.is(at, "constraint") {
        at += 1;
    }
    if words.is(at, "function") {
        let function = words.function(at + 1, span);
        schema.functions.insert(function.name.clone(), function);
    } else if words.is(at, "trigger")
        && let Some(trigger) = words.trigger(at + 1)
    {
        schema.triggers.retain(|known| known.name != trigger.name || known.table != trigger.table);
        schema.triggers.push(trigger);
    }
}

/// Takes a new name or another stability; whatever else is altered, the body stays what it is.
fn alter(schema: &mut Schema, words: &Words<'_>) {
    let (name, end) = words.name(2);
    let renamed = words.find(end, "rename").filter(|at| words.is(at + 1, "to")).map(|at| words.name(at + 2).0);
    if words.is(1, "trigger") {
        let table = words.find(end, "on").map(|at| words.name(at + 1).0);
        let is_meant = |trigger: &&mut Trigger| trigger.name == name && table.as_ref() == Some(&trigger.table);
        if let (Some(trigger), Some(renamed)) = (schema.triggers.iter_mut().find(is_meant), renamed) {
            trigger.name = renamed;
        }
    } else if words.is(1, "function")
        && let Some(mut function) = schema.functions.remove(&name)
    {
        let end = if words.is(end, "(") { words.close(end) } else { end };
        function.stability = words.stability(end).unwrap_or(function.stability);
        if let Some(renamed) = renamed {
            let runs_it = |trigger: &&mut Trigger| trigger.function == name;
            schema.triggers.iter_mut().filter(runs_it).for_each(|trigger| trigger.function.clone_from(&renamed));
            function.name = renamed;
        }
        schema.functions.insert(function.name.clone(), function);
    }
}

/// The words of a statement, without comments.
pub(super) struct Words<'a> {
    text: &'a str,
    tokens: Vec<Token>,
}

impl<'a> Words<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut tokens = lexer::tokens(text, Dialect::Pg);
        tokens.retain(|token| !token.is_comment());
        Self { text, tokens }
    }

    fn at(&self, at: usize) -> &'a str {
        self.tokens.get(at).and_then(|token| self.text.get(token.start..token.end)).unwrap_or_default()
    }

    pub(super) fn is(&self, at: usize, word: &str) -> bool {
        self.at(at).eq_ignore_ascii_case(word)
    }

    /// A word in lower case; empty behind the last.
    pub(super) fn word(&self, at: usize) -> String {
        self.at(at).to_ascii_lowercase()
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.find(0, word).is_some()
    }

    /// All names in it, and all words.
    pub(super) fn names(&self) -> BTreeSet<String> {
        (0..self.tokens.len()).map(|at| plain(self.at(at))).collect()
    }

    /// Whether it creates that kind of thing.
    pub(super) fn creates(&self, kind: &str) -> bool {
        let is_before = |at: &usize| ["or", "replace", "constraint"].iter().any(|word| self.is(*at, word));
        self.is(0, "create") && (1..).find(|at| !is_before(at)).is_some_and(|at| self.is(at, kind))
    }

    pub(super) fn find(&self, from: usize, word: &str) -> Option<usize> {
        (from..self.tokens.len()).find(|at| self.is(*at, word))
    }

    /// The last part of a name, and where it ends.
    pub(super) fn name(&self, mut at: usize) -> (String, usize) {
        while self.is(at + 1, ".") {
            at += 2;
        }
        (plain(self.at(at)), at + 1)
    }

    /// Where the bracket ends that opens here.
    fn close(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for at in open..self.tokens.len() {
            match self.at(at) {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return at;
            }
        }
        self.tokens.len()
    }

    fn function(&self, at: usize, span: Span) -> Written {
        let (name, open) = self.name(at);
        let close = self.close(open);
        let language = self.find(close, "language").map_or(String::new(), |at| plain(self.at(at + 1)));
        let text = (close..self.tokens.len()).find(|at| self.is(*at, "as") && self.is_text(*at + 1));
        Written {
            name,
            params: self.params(open + 1, close),
            language: language.trim_matches('\'').to_owned(),
            body: text.map(|at| unquoted(self.at(at + 1))),
            stability: self.stability(close).unwrap_or(Stability::Volatile),
            span,
        }
    }

    /// How stable a function is said to be behind its parameters.
    fn stability(&self, from: usize) -> Option<Stability> {
        (from..self.tokens.len()).find_map(|at| match self.at(at).to_ascii_lowercase().as_str() {
            "immutable" => Some(Stability::Immutable),
            "stable" => Some(Stability::Stable),
            "volatile" => Some(Stability::Volatile),
            _ => None,
        })
    }

    fn is_text(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Text)
    }

    /// The names of parameters between two places.
    fn params(&self, from: usize, to: usize) -> Vec<String> {
        let mut params = Vec::new();
        let (mut depth, mut first) = (0_usize, true);
        for at in from..to {
            match self.at(at) {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                "," if depth == 0 => {
                    first = true;
                    continue;
                }
                _ => {}
            }
            let is_mode = ["in", "out", "inout", "variadic"].iter().any(|mode| self.is(at, mode));
            if first && depth == 0 && !is_mode {
                first = false;
                params.push(plain(self.at(at)));
            }
        }
        params
    }

    fn trigger(&self, at: usize) -> Option<Trigger> {
        let (name, mut at) = self.name(at);
        let before = self.is(at, "before") || self.is(at, "instead");
        let on = self.find(at, "on")?;
        let (mut events, mut of) = (Vec::new(), Vec::new());
        while at < on {
            let word = plain(self.at(at));
            if ["insert", "update", "delete", "truncate"].contains(&word.as_str()) {
                events.push(word);
            } else if word == "of" && !events.is_empty() {
                at += 1;
                while at < on && !self.is(at, "or") {
                    if !self.is(at, ",") {
                        of.push(plain(self.at(at)));
                    }
                    at += 1;
                }
            }
            at += 1;
        }
        let (table, after) = self.name(on + 1);
        let execute = self.find(after, "execute")?;
        let when = self.find(after, "when").filter(|at| *at < execute).and_then(|at| {
            let close = self.close(at + 1);
            let (from, to) = (self.tokens.get(at + 1)?.start, self.tokens.get(close)?.end);
            Some(self.text.get(from..to)?.to_owned())
        });
        let (function, _) = self.name(execute + 2);
        Some(Trigger { name, table, before, events, of, when, function })
    }
}

fn plain(word: &str) -> String {
    match word.strip_prefix('"') {
        Some(quoted) => quoted.trim_end_matches('"').to_owned(),
        None => word.to_lowercase(),
    }
}

/// A text between `$$`, or between quotes.
fn unquoted(text: &str) -> String {
    if let Some(rest) = text.strip_prefix('$') {
        let tag = rest.find('$').map_or(1, |at| at + 2);
        return text.get(tag..text.len().saturating_sub(tag)).unwrap_or_default().to_owned();
    }
    text.trim_start_matches(['E', 'e']).trim_matches('\'').replace("''", "'")
}
