//! Which statements the transactions of a program call, read from its Rust.
//!
//! A transaction is a block that is handed to something called `transaction` together with a name, or what stands behind
//! `let mut tx = ….begin()…` in a function, whose name it has. A statement is called on the connection, `tx.NAME(…)`, or as
//! a value, `NameParams { … }.run(tx)`. A function that gets the connection is followed. Every branch counts, in the order
//! of the source. What is called behind `&&` may be left out, so such a transaction is two: the one whose name ends in
//! [`IF`] has it. A statement of a transaction that also runs by itself, as a value that is given to something, has a
//! transaction of its own, whose name ends in [`ALONE`].

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::code::{Code, Function};
use super::literal::{Kind, Language};

/// The end of the name of a transaction in which what stands behind `&&` is called.
const IF: &str = "_if";

/// The end of the name of a transaction of one statement.
const ALONE: &str = "_alone";

/// The end of the name of what a statement takes.
const PARAMS: &str = "Params";

/// Methods that begin a transaction.
const BEGINS: [&str; 2] = ["begin", "begin_with"];

/// Methods that give the connection of a transaction.
const LENDS: [&str; 2] = ["connection", "as_mut"];

/// What a program's transactions call.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// By name, the statements of each, in the order of the source.
    pub transactions: BTreeMap<String, Vec<String>>,
    /// What gets a connection and cannot be followed.
    pub lost: Vec<Lost>,
}

/// Something that gets the connection of a transaction and stands in no file.
#[derive(Debug, PartialEq, Eq)]
pub struct Lost {
    /// The file that calls it.
    pub path: String,
    /// Where its name stands.
    pub place: Range<usize>,
}

/// A file with what encloses each token.
struct File<'t> {
    path: &'t str,
    module: &'t str,
    code: Code<'t>,
    /// The bracket that is open where a token stands.
    opens: Vec<Option<usize>>,
}

/// A function with the file that it stands in.
#[derive(Clone, Copy)]
struct Known<'f, 't> {
    file: &'f File<'t>,
    function: &'f Function,
}

/// Something that is called with the connection.
struct Call<'t> {
    /// Whether it stands behind `&&`.
    is_optional: bool,
    callee: Callee<'t>,
}

enum Callee<'t> {
    Statement(String),
    Function {
        /// The token of its name.
        at: usize,
        name: &'t str,
        /// What stands before the name in its path.
        path: Option<&'t str>,
        is_method: bool,
        /// Which argument the connection is.
        argument: usize,
    },
}

/// What is followed, and what came of it.
struct Reader<'f, 't> {
    files: &'f [File<'t>],
    lost: BTreeSet<(usize, usize)>,
}

/// Reads the transactions of files of Rust.
pub fn transactions<'t>(files: impl IntoIterator<Item = (&'t str, &'t str)>) -> Called {
    let files: Vec<File<'t>> = files.into_iter().map(|(path, text)| File::new(path, text)).collect();
    let mut reader = Reader { files: &files, lost: BTreeSet::new() };
    let mut called = Called::default();
    for file in &files {
        for (name, block, connection) in file.blocks() {
            let all = reader.listed(file, &block, connection, true);
            let without = reader.listed(file, &block, connection, false);
            if all != without {
                add(&mut called.transactions, format!("{name}{IF}"), all);
            }
            add(&mut called.transactions, name.to_owned(), without);
        }
    }
    let inside: BTreeSet<&String> = called.transactions.values().flatten().collect();
    let values: BTreeSet<String> = files.iter().flat_map(File::values).collect();
    let alone: Vec<String> = values.into_iter().filter(|value| inside.contains(value)).collect();
    called.transactions.extend(alone.into_iter().map(|name| (format!("{name}{ALONE}"), vec![name])));
    let lost = reader.lost.iter().filter_map(|(file, at)| {
        let file = files.get(*file)?;
        Some(Lost { path: file.path.to_owned(), place: file.code.tokens.get(*at)?.range.clone() })
    });
    called.lost = lost.collect();
    called
}

/// Takes a transaction in; blocks of one name are one.
fn add(transactions: &mut BTreeMap<String, Vec<String>>, name: String, statements: Vec<String>) {
    let known = transactions.entry(name).or_default();
    for statement in statements {
        if !known.contains(&statement) {
            known.push(statement);
        }
    }
}

impl<'f, 't> Reader<'f, 't> {
    /// The statements of a block, each at its first place.
    fn listed(
        &mut self,
        file: &'f File<'t>,
        block: &Range<usize>,
        connection: &str,
        with_optional: bool,
    ) -> Vec<String> {
        let mut list = Vec::new();
        self.follow((file, None), block, connection, with_optional, &mut (&mut list, &mut Vec::new()));
        list
    }

    fn follow(
        &mut self,
        (file, owner): (&'f File<'t>, Option<&str>),
        block: &Range<usize>,
        connection: &str,
        with_optional: bool,
        (list, open): &mut (&mut Vec<String>, &mut Vec<*const Function>),
    ) {
        for call in file.calls(block, connection).into_iter().filter(|call| with_optional || !call.is_optional) {
            match call.callee {
                Callee::Statement(name) => {
                    if !list.contains(&name) {
                        list.push(name);
                    }
                }
                Callee::Function { at, name, path, is_method, argument } => {
                    let all = self.functions((file, owner), (path, name), is_method);
                    if all.is_empty() {
                        let file = self.files.iter().position(|known| std::ptr::eq(known, file));
                        self.lost.extend(file.map(|file| (file, at)));
                    }
                    for Known { file, function } in all {
                        let place = std::ptr::from_ref(function);
                        let taken = file.parameters(function);
                        let Some(connection) = taken.get(argument + usize::from(is_method)) else { continue };
                        if !open.contains(&place) {
                            open.push(place);
                            let inside = (file, function.owner.as_deref());
                            self.follow(inside, &function.body, connection, with_optional, &mut (list, open));
                            open.pop();
                        }
                    }
                }
            }
        }
    }

    /// The functions that may be meant: those of the same file before others.
    fn functions(
        &self,
        (file, owner): (&'f File<'t>, Option<&str>),
        (path, name): (Option<&str>, &str),
        is_method: bool,
    ) -> Vec<Known<'f, 't>> {
        let is_meant = |known: &Known<'f, 't>| {
            let own = known.function.owner.as_deref();
            known.function.name == name
                && match path {
                    _ if is_method => own.is_some(),
                    Some("Self") => std::ptr::eq(known.file, file) && own == owner,
                    Some("self" | "super" | "crate") | None => own.is_none(),
                    Some(path) => own == Some(path) || own.is_none() && known.file.module == path,
                }
        };
        let all =
            self.files.iter().flat_map(|file| file.code.functions.iter().map(move |function| Known { file, function }));
        let all: Vec<Known<'f, 't>> = all.filter(is_meant).collect();
        let here: Vec<Known<'f, 't>> = all.iter().copied().filter(|known| std::ptr::eq(known.file, file)).collect();
        if here.is_empty() { all } else { here }
    }
}

impl<'t> File<'t> {
    fn new(path: &'t str, text: &'t str) -> Self {
        let code = Code::new(text, Language::Rust);
        let mut open: Vec<usize> = Vec::new();
        let opens = (0..code.tokens.len()).map(|at| {
            match code.word(at) {
                ")" | "]" | "}" => _ = open.pop(),
                _ => {}
            }
            let around = open.last().copied();
            if ["(", "[", "{"].contains(&code.word(at)) {
                open.push(at);
            }
            around
        });
        let opens = opens.collect();
        let way = path.strip_suffix(".rs").unwrap_or(path);
        let way = way.strip_suffix("/mod").unwrap_or(way);
        Self { path, module: way.rsplit('/').next().unwrap_or(way), code, opens }
    }

    /// The transactions of the file: their names, their blocks, and what they call the connection.
    fn blocks(&self) -> Vec<(&'t str, Range<usize>, &'t str)> {
        let handed = (0..self.code.tokens.len()).filter_map(|at| self.handed(at));
        handed.chain(self.code.functions.iter().filter_map(|function| self.begun(function))).collect()
    }

    /// A block that is handed over with a name: `transaction!(…, "name", …, |conn| …)`.
    fn handed(&self, at: usize) -> Option<(&'t str, Range<usize>, &'t str)> {
        let code = &self.code;
        if code.word(at) != "transaction" {
            return None;
        }
        let open = if code.word(at + 1) == "!" { at + 2 } else { at + 1 };
        let end = (code.word(open) == "(").then(|| code.behind(open) - 1)?;
        let inside = || (open + 1..end).filter(|at| self.opens[*at] == Some(open));
        let name = inside().find(|at| code.is(*at, Kind::Text))?;
        let bar = inside().find(|at| code.word(*at) == "|")?;
        let connection = (bar..end).find(|at| code.is(*at, Kind::Word) && code.word(*at) != "mut")?;
        let body = inside().filter(|at| *at > bar && code.word(*at) == "|").nth(0)? + 1;
        let ends = |at: &usize| code.word(*at) == ",";
        let last = inside().filter(|at| *at > body).find(ends).unwrap_or(end);
        Some((&code.text[code.tokens[name].inner.clone()], body..last, code.word(connection)))
    }

    /// The rest of a function behind `let mut tx = ….begin()…`.
    fn begun(&self, function: &Function) -> Option<(&'t str, Range<usize>, &'t str)> {
        let code = &self.code;
        let begin = function
            .body
            .clone()
            .find(|at| BEGINS.contains(&code.word(*at)) && code.before(*at, 1) == "." && code.word(at + 1) == "(")?;
        let bound = (function.body.start..begin).rev().take_while(|at| code.word(*at) != ";");
        let bound = bound.filter(|at| code.word(*at) == "let").last()?;
        let name = (bound + 1..begin).find(|at| code.word(*at) != "mut")?;
        Some((&code.text[function.place.clone()], begin..function.body.end, code.word(name)))
    }

    /// The names of what a function takes, `self` too.
    fn parameters(&self, function: &Function) -> Vec<&'t str> {
        let code = &self.code;
        let Some(name) = code.tokens.iter().position(|token| token.range == function.place) else { return Vec::new() };
        let mut open = name + 1;
        if code.word(open) == "<" {
            open = self.behind_angles(open);
        }
        let (mut all, mut at, mut depth) = (Vec::new(), open + 1, 0_i32);
        let end = code.behind(open) - 1;
        let mut is_first = true;
        while at < end {
            match code.word(at) {
                "<" => depth += 1,
                ">" if code.before(at, 1) != "-" => depth -= 1,
                "," if depth == 0 => is_first = true,
                word if is_first && code.is(at, Kind::Word) && word != "mut" => {
                    all.push(word);
                    is_first = false;
                }
                _ => {}
            }
            at = code.over(at);
        }
        all
    }

    fn behind_angles(&self, open: usize) -> usize {
        let (mut at, mut depth) = (open, 0_i32);
        loop {
            match self.code.word(at) {
                "" => return at,
                "<" => depth += 1,
                ">" if self.code.before(at, 1) != "-" => depth -= 1,
                _ => {}
            }
            at = self.code.over(at);
            if depth == 0 {
                return at;
            }
        }
    }

    /// What is called with the connection in a block.
    fn calls(&self, block: &Range<usize>, connection: &str) -> Vec<Call<'t>> {
        let code = &self.code;
        let named = block.clone().filter(|at| code.word(*at) == connection && code.is(*at, Kind::Word));
        named.filter(|at| code.before(*at, 1) != ".").filter_map(|at| self.call(at)).collect()
    }

    fn call(&self, at: usize) -> Option<Call<'t>> {
        let code = &self.code;
        let is_optional = |start: usize| code.before(start, 1) == "&" && code.before(start, 2) == "&";
        let mut dot = at + 1;
        // `tx.connection()` is the connection again.
        while code.word(dot) == "." && LENDS.contains(&code.word(dot + 1)) && code.word(dot + 2) == "(" {
            dot = code.behind(dot + 2);
        }
        if code.word(dot) == "." && code.is(dot + 1, Kind::Word) && code.word(dot + 2) == "(" {
            let callee = Callee::Statement(code.word(dot + 1).to_owned());
            return Some(Call { is_optional: is_optional(at), callee });
        }
        let open = self.opens[at].filter(|open| code.word(*open) == "(")?;
        let argument = (open + 1..at).filter(|at| self.opens[*at] == Some(open) && code.word(*at) == ",").count();
        let name = self.name_before(open)?;
        if code.word(name) == "run" && code.before(name, 1) == "." {
            let value = self.value_before(name - 1)?;
            return Some(Call { is_optional: false, callee: Callee::Statement(value) });
        }
        let word = code.word(name);
        // A constructor, or what ends a transaction.
        if word.starts_with(char::is_uppercase) || word == "drop" {
            return None;
        }
        let is_method = code.before(name, 1) == ".";
        let path = (code.before(name, 1) == "::").then(|| code.before(name, 2));
        if path.is_some_and(|path| ["pg_only", "sqlite_only"].contains(&path)) {
            return Some(Call { is_optional: false, callee: Callee::Statement(word.to_owned()) });
        }
        let mut start = name;
        while ["::", "."].contains(&code.before(start, 1)) {
            start -= 2;
        }
        let callee = Callee::Function { at: name, name: word, path, is_method, argument };
        Some(Call { is_optional: is_optional(start), callee })
    }

    /// The name of what is called with the arguments in a bracket; none of a macro, and of what is no call.
    fn name_before(&self, open: usize) -> Option<usize> {
        let mut at = open.checked_sub(1)?;
        if self.code.word(at) == ">" {
            at = self.angles_before(at)?.checked_sub(2)?;
        }
        self.code.is(at, Kind::Word).then_some(at)
    }

    /// Where angle brackets open that close here.
    fn angles_before(&self, close: usize) -> Option<usize> {
        let mut depth = 0_i32;
        (0..=close).rev().find(|at| {
            depth += i32::from(self.code.word(*at) == ">") - i32::from(self.code.word(*at) == "<");
            depth == 0
        })
    }

    /// The statement of the value in front of a dot: `NameParams { … }`, or what was bound to one.
    fn value_before(&self, dot: usize) -> Option<String> {
        let last = dot.checked_sub(1)?;
        match self.code.word(last) {
            "}" => {
                let open =
                    (0..last).rev().find(|at| self.code.word(*at) == "{" && self.code.behind(*at) == last + 1)?;
                statement(self.code.word(open.checked_sub(1)?))
            }
            _ => self.bound(last),
        }
    }

    /// The statement of a name: itself, or what it was bound to in its function.
    fn bound(&self, at: usize) -> Option<String> {
        let code = &self.code;
        let word = code.word(at);
        if let Some(own) = statement(word) {
            return Some(own);
        }
        let function = &code.functions[code.function_of(at)?];
        let head = code.tokens.iter().position(|token| token.range == function.place)?;
        let binds = |place: &usize| {
            let is_let =
                code.before(*place, 1) == "let" || code.before(*place, 1) == "mut" && code.before(*place, 2) == "let";
            code.word(*place) == word && (is_let || code.word(place + 1) == ":" && *place < function.body.start)
        };
        let place = (head..at).rev().find(binds)?;
        // A parameter goes to the next one, what is bound to a semicolon.
        let inside = self.opens[place].filter(|open| code.word(*open) == "(");
        let last = inside.map_or(at, |open| code.behind(open) - 1);
        let ends = |at: &usize| [";", ","].contains(&code.word(*at)) && self.opens[*at] == self.opens[place];
        let end = (place..last).find(ends).unwrap_or(last);
        (place..end).find_map(|at| statement(code.word(at)))
    }

    /// The statements that are given as values to a method that runs them: `.unit(params)`.
    fn values(&self) -> Vec<String> {
        let code = &self.code;
        let opens = (0..code.tokens.len()).filter(|at| code.word(*at) == "(");
        let given = opens.filter_map(|open| {
            let name =
                self.name_before(open).filter(|name| code.before(*name, 1) == "." && code.word(*name) != "run")?;
            let typed = (name + 1..open).find_map(|at| statement(code.word(at)));
            let end = code.behind(open) - 1;
            let is_end = |at: &usize| self.opens[*at] == Some(open) && code.word(*at) == ",";
            let mut first = open + 1..(open + 1..end).find(is_end).unwrap_or(end);
            let is_value = code.is(first.start, Kind::Word) && code.word(first.start) != "move";
            let made = || first.find_map(|at| statement(code.word(at))).or_else(|| self.bound(open + 1));
            let value = typed.or_else(|| is_value.then(made).flatten())?;
            (value != code.word(name)).then_some(value)
        });
        given.collect()
    }
}

/// The statement that takes what is called so: `LeaseRenewParams` is of `lease_renew`.
fn statement(name: &str) -> Option<String> {
    let name = name.strip_suffix(PARAMS).filter(|name| name.starts_with(char::is_uppercase))?;
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    Some(snake)
}
