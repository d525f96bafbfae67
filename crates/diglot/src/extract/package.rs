//! The files of a folder, and the constants that they share.

use std::collections::{BTreeMap, BTreeSet};

use super::code::Code;
use super::expression::{Evaluator, Piece, Reference, is_too_deep};
use super::literal::{Kind, Language};
use super::marks;

/// Where a name is given its value.
#[derive(Debug, Clone, Copy)]
struct Declaration {
    file: usize,
    /// The token of the name.
    name: usize,
    /// The first token of the value.
    value: usize,
    /// The function that it is known in alone.
    function: Option<usize>,
}

/// Files that know each other's constants.
#[derive(Debug)]
pub(super) struct Package<'t> {
    pub(super) files: Vec<Code<'t>>,
    declarations: BTreeMap<&'t str, Vec<Declaration>>,
    /// The names by the places of their values.
    values: BTreeMap<Reference, (&'t str, Declaration)>,
    /// Where names that are declared stand.
    uses: BTreeMap<&'t str, Vec<Reference>>,
    /// Names that are given another value later, by file and function.
    changed: BTreeSet<(usize, Option<usize>, &'t str)>,
}

/// The value of a constant.
pub(super) struct Value {
    pub(super) pieces: Vec<Piece>,
    pub(super) references: Vec<Reference>,
    pub(super) file: usize,
    /// What stands for it where it is named inside of a text.
    pub(super) within: Reference,
}

impl<'t> Package<'t> {
    pub(super) fn new(files: Vec<Code<'t>>) -> Self {
        let mut package = Self {
            files,
            declarations: BTreeMap::new(),
            values: BTreeMap::new(),
            uses: BTreeMap::new(),
            changed: BTreeSet::new(),
        };
        for file in 0..package.files.len() {
            package.declare(file);
        }
        for (name, all) in &package.declarations {
            package.values.extend(all.iter().map(|one| ((one.file, one.value), (*name, *one))));
            package.uses.insert(name, Vec::new());
        }
        for (file, code) in package.files.iter().enumerate() {
            for at in 0..code.tokens.len() {
                if let Some(uses) = package.uses.get_mut(code.word(at)).filter(|_| code.before(at, 1) != ".") {
                    uses.push((file, at));
                }
            }
        }
        package
    }

    fn declare(&mut self, file: usize) {
        let code = &self.files[file];
        let (mut declared, mut changed) = (Vec::new(), Vec::new());
        for at in 0..code.tokens.len() {
            if ![":=", "="].contains(&code.word(at)) {
                continue;
            }
            let function = code.function_of(at);
            if code.before(at, 1) == "+" {
                changed.push((function, code.before(at, 2)));
                continue;
            }
            let Some((name, is_new)) = target(code, at) else { continue };
            let is_new = is_new || function.is_none() && code.language == Language::Go;
            match is_new {
                true => declared.push((code.word(name), Declaration { file, name, value: at + 1, function })),
                false => changed.push((function, code.word(name))),
            }
        }
        for at in 0..code.tokens.len().saturating_sub(2) {
            let is_grown = code.word(at + 1) == "." && GROWING.contains(&code.word(at + 2));
            if is_grown && code.is(at, Kind::Word) {
                changed.push((code.function_of(at), code.word(at)));
            }
        }
        declared.into_iter().for_each(|(name, one)| self.declarations.entry(name).or_default().push(one));
        self.changed.extend(changed.into_iter().map(|(function, name)| (file, function, name)));
    }

    /// The declaration that a name means at a token of a file.
    fn declaration(&self, file: usize, at: usize, path: &str) -> Option<Declaration> {
        let code = &self.files[file];
        let name = path.rsplit("::").next().unwrap_or(path);
        // A member of a value is no constant.
        if name.contains('.') {
            return None;
        }
        let function = code.function_of(at);
        let is_changed = |one: &&Declaration| self.changed.contains(&(one.file, one.function, name));
        let all = self.declarations.get(name)?;
        let local = all.iter().filter(|one| one.file == file && function.is_some() && one.function == function);
        let local: Vec<&Declaration> = local.collect();
        if !local.is_empty() {
            // The name itself stands in its own value.
            let before = local.iter().filter(|one| one.value < at);
            let only = before.max_by_key(|one| one.value)?;
            return (local.len() == 1 && !is_changed(only)).then_some(**only);
        }
        let shared: Vec<&Declaration> = all.iter().filter(|one| one.function.is_none()).collect();
        let here: Vec<&&Declaration> = shared.iter().filter(|one| one.file == file).collect();
        let found = match (here.as_slice(), shared.as_slice()) {
            ([one], _) => **one,
            ([], [one]) => one,
            _ => return None,
        };
        (found.name != at && !is_changed(&found)).then_some(*found)
    }

    /// The text of a constant, if a constant it is and a text.
    pub(super) fn constant(&self, file: usize, at: usize, path: &str, depth: usize) -> Option<Value> {
        if is_too_deep(depth) {
            return None;
        }
        let found = self.declaration(file, at, path)?;
        let read = Evaluator { package: self, file: found.file }.expression(found.value, depth + 1)?;
        // The whole value is the text, or it is something else that begins so.
        let code = &self.files[found.file];
        let is_end = matches!(code.word(read.end), "" | ";" | ")" | "}" | ",") || is_line_end(code, read.end);
        let is_known = |piece: &Piece| matches!(piece, Piece::Known { .. });
        let is_text = is_end && (read.pieces.iter().any(is_known) || marks::is_list(&read.pieces));
        is_text.then_some(Value {
            pieces: read.pieces,
            references: read.references,
            file: found.file,
            within: within(found.file, found.value),
        })
    }

    /// Whether what is given to a name is a part of other texts alone: all that name it were followed.
    pub(super) fn is_part(&self, file: usize, value: usize, followed: &BTreeSet<Reference>) -> bool {
        let Some((name, own)) = self.values.get(&(file, value)) else { return false };
        let means_it = |other: usize, at: usize| {
            self.declaration(other, at, name).is_some_and(|found| (found.file, found.value) == (file, value))
        };
        let mut uses = 0;
        for (other, at) in self.uses.get(name).into_iter().flatten() {
            if (*other, *at) == (file, own.name) || !means_it(*other, *at) {
                continue;
            }
            if !followed.contains(&(*other, *at)) {
                return false;
            }
            uses += 1;
        }
        uses > 0 || followed.contains(&within(file, value))
    }
}

/// A constant that is named inside of a text, `{NAME}`, where no token is.
fn within(file: usize, value: usize) -> Reference {
    (file, usize::MAX - value)
}

/// Methods that add something to a text.
pub(super) const GROWING: [&str; 9] = [
    "push_str",
    "push",
    "push_bind",
    "WriteString",
    "WriteByte",
    "WriteRune",
    "push_values",
    "separated",
    "push_unseparated",
];

fn is_line_end(code: &Code<'_>, at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|at| code.tokens.get(at)) else { return true };
    code.tokens.get(at).is_none_or(|token| code.text[before.range.end..token.range.start].contains('\n'))
        && code.language == Language::Go
}

/// What is given a value at `=` or `:=`, and whether it is new there.
pub(super) fn target(code: &Code<'_>, equals: usize) -> Option<(usize, bool)> {
    let (mut at, mut name, mut is_new) = (equals, None, code.word(equals) == ":=");
    while let Some(before) = at.checked_sub(1) {
        let word = code.word(before);
        let between = &code.text[code.tokens[before].range.end..code.tokens[at].range.start];
        if word == "," && !between.contains('\n') {
            // Of several values nobody says here which one is whose.
            return None;
        }
        if between.contains('\n') || [";", "{", "}", "(", ")", ","].contains(&word) {
            break;
        }
        if code.language.declares(word) {
            is_new = true;
            break;
        }
        if code.is(before, Kind::Word) && word != "mut" {
            name = Some(before);
        }
        at = before;
    }
    Some((name?, is_new))
}

/// What the value of a call is given to, in the line of the token with which it begins.
pub(super) fn target_of(code: &Code<'_>, at: usize) -> Option<usize> {
    let equals = at.checked_sub(1).filter(|before| [":=", "="].contains(&code.word(*before)))?;
    target(code, equals).map(|(name, _)| name)
}
