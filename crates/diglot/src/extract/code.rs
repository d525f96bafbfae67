//! A file of Go or Rust: its tokens without tests, and the functions that they stand in.

use std::ops::Range;

use super::literal::{Kind, Language, Token, tokens};

/// A function with a name.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    /// Where the name stands.
    pub(super) place: Range<usize>,
    /// The type that it belongs to.
    pub(super) owner: Option<String>,
    /// The tokens of its body.
    pub(super) body: Range<usize>,
}

/// The code of a file.
#[derive(Debug)]
pub(super) struct Code<'t> {
    pub(super) text: &'t str,
    pub(super) language: Language,
    pub(super) tokens: Vec<Token>,
    pub(super) functions: Vec<Function>,
}

impl<'t> Code<'t> {
    pub(super) fn new(text: &'t str, language: Language) -> Self {
        let mut code = Self { text, language, tokens: tokens(text, language), functions: Vec::new() };
        if language == Language::Rust {
            code.leave_tests_out();
        }
        code.functions = code.find_functions();
        code
    }

    /// The text of a token; none behind the last.
    pub(super) fn word(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |token| &self.text[token.range.clone()])
    }

    pub(super) fn before(&self, at: usize, back: usize) -> &'t str {
        at.checked_sub(back).map_or("", |at| self.word(at))
    }

    pub(super) fn is(&self, at: usize, kind: Kind) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == kind)
    }

    /// What is written from one token to another.
    pub(super) fn written(&self, range: Range<usize>) -> (&'t str, Range<usize>) {
        let last = range.end.saturating_sub(1).max(range.start);
        let place = match (self.tokens.get(range.start), self.tokens.get(last)) {
            (Some(first), Some(last)) => first.range.start..last.range.end,
            _ => self.text.len()..self.text.len(),
        };
        (&self.text[place.clone()], place)
    }

    /// The token behind this one, or behind the brackets that it opens.
    pub(super) fn over(&self, at: usize) -> usize {
        if ["(", "[", "{"].contains(&self.word(at)) { self.behind(at) } else { at + 1 }
    }

    /// The token behind the one that closes the bracket that opens here.
    pub(super) fn behind(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for at in open..self.tokens.len() {
            match self.word(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// The names of what a function is given, in their order, without the value that a method belongs to.
    pub(super) fn parameters(&self, function: &Function) -> Vec<&'t str> {
        let name = self.tokens.partition_point(|token| token.range.start < function.place.start);
        let mut open = name + 1;
        while open < function.body.start && self.word(open) != "(" {
            open += 1;
        }
        let (end, mut names, mut at) = (self.behind(open).saturating_sub(1), Vec::new(), open + 1);
        while at < end {
            let first = (at..end).find(|at| self.is(*at, Kind::Word) && self.word(*at) != "mut");
            names.extend(first.map(|first| self.word(first)));
            while at < end && self.word(at) != "," {
                at = self.over(at);
            }
            at += 1;
        }
        names.retain(|name| *name != "self");
        names
    }

    /// The function that a token stands in.
    pub(super) fn function_of(&self, at: usize) -> Option<usize> {
        let around = self.functions.iter().enumerate().filter(|(_, function)| function.body.contains(&at));
        around.min_by_key(|(_, function)| function.body.len()).map(|(index, _)| index)
    }

    /// Takes out what is compiled for tests alone.
    fn leave_tests_out(&mut self) {
        let mut tests: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            if self.word(at) != "#" || self.word(at + 1) != "[" {
                at += 1;
                continue;
            }
            let mut end = self.behind(at + 1);
            let said: Vec<&str> = (at + 2..end.saturating_sub(1)).map(|at| self.word(at)).collect();
            let is_test = match said.as_slice() {
                ["cfg", rest @ ..] => rest.contains(&"test") && !rest.contains(&"not"),
                said => said.last() == Some(&"test") || said.contains(&"test") && said.contains(&"::"),
            };
            if is_test {
                // The item goes to the end of its first block, or to a semicolon before one.
                while end < self.tokens.len() && !["{", ";"].contains(&self.word(end)) {
                    end = if ["(", "["].contains(&self.word(end)) { self.behind(end) } else { end + 1 };
                }
                end = if self.word(end) == "{" { self.behind(end) } else { end + 1 };
                tests.push(at..end);
            }
            at = end;
        }
        let mut index = 0;
        self.tokens.retain(|_| {
            index += 1;
            !tests.iter().any(|test| test.contains(&(index - 1)))
        });
    }

    fn find_functions(&self) -> Vec<Function> {
        let mut functions = Vec::new();
        let mut types: Vec<(Range<usize>, String)> = Vec::new();
        for at in 0..self.tokens.len() {
            let is_word = self.is(at, Kind::Word);
            if self.language == Language::Rust && is_word && self.word(at) == "impl" {
                types.extend(self.implementation(at));
            } else if is_word && self.word(at) == self.language.functions() {
                functions.extend(self.function(at + 1));
            }
        }
        for function in &mut functions {
            let around = types.iter().filter(|(body, _)| body.contains(&function.body.start));
            let owner = around.min_by_key(|(body, _)| body.len()).map(|(_, name)| name.clone());
            function.owner = owner.or(function.owner.take());
        }
        functions
    }

    /// The block behind `impl`, and the type that it is of.
    fn implementation(&self, at: usize) -> Option<(Range<usize>, String)> {
        let open = (at..self.tokens.len().min(at + 100)).find(|at| ["{", ";", "("].contains(&self.word(*at)))?;
        if self.word(open) != "{" {
            return None;
        }
        let behind_for = (at..open).rev().find(|at| self.word(*at) == "for").map_or(at + 1, |at| at + 1);
        let mut depth = 0_i32;
        let name = (behind_for..open).find(|at| {
            depth += i32::from(self.word(*at) == "<") - i32::from(self.word(*at) == ">");
            depth == 0 && self.is(*at, Kind::Word) && !self.word(*at + 1).starts_with(':')
        })?;
        Some((open..self.behind(open), self.word(name).to_owned()))
    }

    /// The function whose keyword stands before this token.
    fn function(&self, at: usize) -> Option<Function> {
        let (mut name, mut owner) = (at, None);
        if self.language == Language::Go && self.word(at) == "(" {
            name = self.behind(at);
            owner = (at..name).rev().find(|at| self.is(*at, Kind::Word)).map(|at| self.word(at).to_owned());
        }
        let token = self.tokens.get(name).filter(|token| token.kind == Kind::Word)?;
        // A function without a name belongs to the one that it stands in; what follows its brackets is its result.
        if self.language == Language::Go && name != at && (self.word(name + 1) != "(" || self.word(name) == "func") {
            return None;
        }
        let mut open = name + 1;
        loop {
            match self.word(open) {
                "" | ";" => return None,
                "(" | "[" => open = self.behind(open),
                "{" if ["interface", "struct"].contains(&self.before(open, 1)) => open = self.behind(open),
                "{" => break,
                _ => open += 1,
            }
        }
        let body = open..self.behind(open);
        Some(Function { name: self.text[token.range.clone()].to_owned(), place: token.range.clone(), owner, body })
    }
}
