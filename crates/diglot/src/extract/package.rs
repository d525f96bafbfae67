//! The files of a folder, and the constants that they share.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::choices;
use super::code::Code;
use super::expression::{Evaluator, Expression, Piece, Reference, is_too_deep};
use super::growth::{Growth, When};
use super::imports::{Elsewhere, Imports};
use super::lists::{self, Item};
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
    /// Which element of its value it is given, of a tuple.
    element: Option<usize>,
    /// The function that it is known in alone.
    function: Option<usize>,
}

/// What all calls of a function were asked for: the file, the function, the parameter, and whether it is a list.
type Asked = (usize, usize, usize, bool);

/// Files that know each other's constants, and files of other folders whose constants they name.
#[derive(Debug)]
pub(super) struct Package<'t> {
    /// The files of the folder, with those of other folders behind them.
    pub(super) files: Vec<Code<'t>>,
    /// How many of the files are of the folder.
    pub(super) own: usize,
    paths: Vec<&'t str>,
    imports: Vec<Imports>,
    declarations: BTreeMap<&'t str, Vec<Declaration>>,
    /// The names by the places of their values.
    values: BTreeMap<Reference, (&'t str, Declaration)>,
    /// The functions of a name, by file.
    functions: BTreeMap<&'t str, Vec<(usize, usize)>>,
    /// Where names that are declared stand.
    uses: BTreeMap<&'t str, Vec<Reference>>,
    /// What branches give, by its first token, with the value that they are branches of.
    branches: BTreeMap<Reference, Reference>,
    /// Names that are given another value later, by file and function.
    changed: BTreeSet<(usize, Option<usize>, &'t str)>,
    /// The values that were read, by their places; none while one is read, which may lead back to itself.
    read: RefCell<BTreeMap<Reference, Option<Expression>>>,
    /// What functions are given at their calls, by file, function and place among the parameters; and whether as a list.
    given: RefCell<BTreeMap<Asked, Option<Given>>>,
}

/// The texts that a function is given for one of its parameters.
#[derive(Debug, Clone)]
struct Given {
    items: Vec<Item>,
}

/// How many calls of a function are told apart.
const MOST: usize = 24;

/// The value of a constant.
pub(super) struct Value {
    pub(super) pieces: Vec<Piece>,
    pub(super) references: Vec<Reference>,
    pub(super) file: usize,
    /// What stands for it where it is named inside of a text.
    pub(super) within: Reference,
}

impl<'t> Package<'t> {
    pub(super) fn new(own: Vec<(&'t str, Code<'t>)>, others: Vec<(&'t str, Code<'t>)>) -> Self {
        let count = own.len();
        let (paths, files): (Vec<&str>, Vec<Code<'t>>) = own.into_iter().chain(others).unzip();
        let imports = files.iter().zip(&paths).map(|(code, path)| Imports::new(code, path)).collect();
        let mut package = Self {
            files,
            own: count,
            paths,
            imports,
            declarations: BTreeMap::new(),
            values: BTreeMap::new(),
            functions: BTreeMap::new(),
            uses: BTreeMap::new(),
            branches: BTreeMap::new(),
            changed: BTreeSet::new(),
            read: RefCell::default(),
            given: RefCell::default(),
        };
        for file in 0..package.files.len() {
            package.declare(file);
        }
        for (name, all) in &package.declarations {
            package.values.extend(all.iter().map(|one| ((one.file, one.value), (*name, *one))));
            package.uses.insert(name, Vec::new());
        }
        for (file, code) in package.files.iter().enumerate() {
            for (index, function) in code.functions.iter().enumerate() {
                let name = &code.text[function.place.clone()];
                package.functions.entry(name).or_default().push((file, index));
            }
        }
        for (file, code) in package.files.iter().enumerate().take(count) {
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
        let (mut declared, mut changed, mut branches) = (Vec::new(), Vec::new(), Vec::new());
        for at in 0..code.tokens.len() {
            if ![":=", "="].contains(&code.word(at)) {
                continue;
            }
            let function = code.function_of(at);
            if code.before(at, 1) == "+" {
                changed.push((function, code.before(at, 2)));
                continue;
            }
            for (element, name) in elements(code, at).into_iter().enumerate() {
                let one = Declaration { file, name, value: at + 1, element: Some(element), function };
                declared.push((code.word(name), one));
            }
            let Some((name, is_new)) = target(code, at) else { continue };
            let is_new = is_new || function.is_none() && code.language == Language::Go;
            match is_new {
                true => {
                    let one = Declaration { file, name, value: at + 1, element: None, function };
                    declared.push((code.word(name), one));
                    if code.language == Language::Rust && ["if", "match"].contains(&code.word(at + 1)) {
                        let all = choices::branches(code, at + 1).into_iter().flat_map(|(branches, _)| branches);
                        branches.extend(all.map(|branch| ((file, branch.start), (file, at + 1))));
                    }
                }
                false => changed.push((function, code.word(name))),
            }
        }
        for at in 0..code.tokens.len().saturating_sub(2) {
            let is_grown = code.word(at + 1) == "." && GROWING.contains(&code.word(at + 2));
            if is_grown && code.is(at, Kind::Word) {
                changed.push((code.function_of(at), code.word(at)));
            }
        }
        self.branches.extend(branches);
        declared.into_iter().for_each(|(name, one)| self.declarations.entry(name).or_default().push(one));
        self.changed.extend(changed.into_iter().map(|(function, name)| (file, function, name)));
    }

    /// The declaration that a name means at a token of a file, of what is given no other value later.
    fn declaration(&self, file: usize, at: usize, path: &str) -> Option<Declaration> {
        self.found(file, at, path).filter(|(_, is_changed)| !is_changed).map(|(found, _)| found)
    }

    /// The declaration that a name means at a token of a file, and whether it is given another value later.
    fn found(&self, file: usize, at: usize, path: &str) -> Option<(Declaration, bool)> {
        let code = &self.files[file];
        let name = path.rsplit("::").next().unwrap_or(path);
        // A member of a value is no constant, and one of a package stands in another folder.
        if name.contains('.') {
            return self.elsewhere(file, path).map(|found| (found, false));
        }
        let function = code.function_of(at);
        let is_changed = |one: &Declaration| self.changed.contains(&(one.file, one.function, name));
        let all = self.declarations.get(name).map_or(&[][..], Vec::as_slice);
        let local = all.iter().filter(|one| one.file == file && function.is_some() && one.function == function);
        let local: Vec<&Declaration> = local.collect();
        if let [only] = local.as_slice() {
            // The name itself stands in its own value.
            return (only.value < at).then(|| (**only, is_changed(only)));
        }
        if !local.is_empty() {
            // Of names that hide each other the last one before it counts, in a block around it.
            let is_seen = |one: &&&Declaration| one.value < at && scope(code, one.value).contains(&at);
            let last = local.iter().filter(is_seen).max_by_key(|one| one.value)?;
            return Some((**last, is_changed(last)));
        }
        let shared = all.iter().filter(|one| one.function.is_none() && self.are_together(one.file, file));
        let shared: Vec<&Declaration> = shared.collect();
        let here: Vec<&&Declaration> = shared.iter().filter(|one| one.file == file).collect();
        let found = match (here.as_slice(), shared.as_slice()) {
            ([one], _) => **one,
            ([], [one]) => one,
            ([], []) => return self.elsewhere(file, path).map(|found| (found, false)),
            _ => return None,
        };
        (found.name != at).then(|| (*found, is_changed(found)))
    }

    /// Whether files are of one folder.
    fn are_together(&self, one: usize, other: usize) -> bool {
        let folder = |file: usize| self.paths[file].rsplit_once('/').map_or("", |(folder, _)| folder);
        match one < self.own || other < self.own {
            true => one < self.own && other < self.own,
            false => folder(one) == folder(other),
        }
    }

    /// The declaration of a name that a file takes from another folder.
    fn elsewhere(&self, file: usize, path: &str) -> Option<Declaration> {
        self.imports[file].elsewhere(path).iter().find_map(|Elsewhere { places, name }| {
            let all = self.declarations.get(name.as_str())?;
            places.iter().find_map(|place| {
                let is_there = |one: &&Declaration| {
                    let path = self.paths[one.file];
                    one.function.is_none()
                        && (path == place || path.rsplit_once('/').is_some_and(|(at, _)| at == place))
                };
                all.iter().find(is_there).copied()
            })
        })
    }

    /// The places of other folders where the names of a file may stand, that nothing here declares.
    pub(super) fn places(&self, file: usize, path: &str) -> Vec<String> {
        match self.declaration(file, usize::MAX, path) {
            Some(_) => Vec::new(),
            // A package of Go names what stands in its other files as its own.
            None if self.files[file].language == Language::Go && !path.contains('.') => {
                vec![self.paths[file].rsplit_once('/').map_or("", |(folder, _)| folder).to_owned()]
            }
            None => self.imports[file].elsewhere(path).into_iter().flat_map(|one| one.places).collect(),
        }
    }

    /// What is behind a name that is given another one alone, `table` of `let table = TABLE.as_str()`, or what a call gives:
    /// what that is called, and how it is written where it is no call.
    pub(super) fn behind(&self, file: usize, at: usize, path: &str, depth: usize) -> Option<(String, Option<String>)> {
        if is_too_deep(depth) {
            return None;
        }
        let found = self.declaration(file, at, path).filter(|found| found.element.is_none())?;
        let read = self.value(&found, depth + 1)?;
        let [Piece::Hole { path, code, .. }] = read.pieces.as_slice() else { return None };
        let is_whole = is_end(&self.files[found.file], read.end) && !path.is_empty();
        is_whole.then(|| (path.clone(), Some(code.clone()).filter(|code| !code.contains(['(', '[']))))
    }

    /// The texts that all calls give a function for the parameter that is named at a token; none where a call gives what
    /// only the running program knows.
    fn given(&self, file: usize, at: usize, name: &str, (depth, is_list): (usize, bool)) -> Option<Given> {
        if file >= self.own || name.contains(['.', ':']) || is_too_deep(depth) {
            return None;
        }
        let code = &self.files[file];
        let index = code.function_of(at)?;
        let function = &code.functions[index];
        let parameters = code.parameters(function);
        let parameter = parameters.iter().position(|one| *one == name)?;
        let is_local = |one: &Declaration| one.file == file && one.function == Some(index);
        if self.declarations.get(name).is_some_and(|all| all.iter().any(is_local)) {
            return None;
        }
        let key = (file, index, parameter, is_list);
        if let Some(known) = self.given.borrow().get(&key) {
            return known.clone();
        }
        self.given.borrow_mut().insert(key, None);
        let given = self.gathered(&function.name, (parameter, parameters.len()), (depth, is_list));
        self.given.borrow_mut().insert(key, given.clone());
        given
    }

    /// What stands where a parameter is named, which was taken for unknown: what all calls give it, with the places of these
    /// texts, if that is known.
    pub(super) fn instead_of(
        &self,
        unknown: Piece,
        file: usize,
        at: usize,
        name: &str,
        depth: usize,
    ) -> (Piece, Vec<Reference>) {
        let Some(Given { items }) = self.given(file, at, name, (depth, false)) else { return (unknown, Vec::new()) };
        let place = unknown.place().clone();
        let references = items.iter().flat_map(|item| item.references.iter().copied()).collect();
        let instead = Some(Box::new(unknown));
        (Piece::Choice { items, instead, place: place.clone() }.at(&place), references)
    }

    /// The text that a function of the project gives whatever it is given, or those of its branches; where two have its name
    /// nobody knows which one is called.
    pub(super) fn returned(&self, path: &str, depth: usize) -> Option<Expression> {
        let name = path.rsplit(['.', ':']).next()?;
        let [(other, index)] = self.functions.get(name)?.as_slice() else { return None };
        let (code, evaluator) = (&self.files[*other], Evaluator::new(self, *other));
        let function = &code.functions[*index];
        if is_too_deep(depth) || function.owner.is_some() != path.contains('.') && code.language == Language::Rust {
            return None;
        }
        let body = function.body.start + 1..function.body.end.saturating_sub(1);
        let mut all: Vec<Range<usize>> = Vec::new();
        for at in body.clone().filter(|at| code.word(*at) == "return") {
            let end = (at + 1..body.end).find(|end| is_end(code, *end) && *end > at + 1).unwrap_or(body.end);
            all.push(at + 1..end);
        }
        if code.language == Language::Rust {
            all.push(choices::value(code, body));
        }
        let read: Vec<Expression> = all.iter().map(|tokens| evaluator.argument(tokens, depth + 1)).collect();
        let is_known = |piece: &Piece| match piece {
            Piece::Known { .. } => true,
            Piece::Choice { items, instead: None, .. } => {
                items.iter().flat_map(|item| &item.pieces).all(|piece| matches!(piece, Piece::Known { .. }))
            }
            _ => false,
        };
        if read.is_empty() || !read.iter().all(|read| read.pieces.iter().all(is_known)) {
            return None;
        }
        let mut references: Vec<Reference> = read.iter().flat_map(|read| read.references.clone()).collect();
        references.extend(all.iter().map(|tokens| within(*other, tokens.start)));
        match <[Expression; 1]>::try_from(read) {
            Ok([read]) => Some(Expression { references, ..read }),
            Err(read) => {
                let of = read.len();
                let item = |(at, Expression { pieces, .. }): (usize, Expression)| Item {
                    when: choices::arm(at, of),
                    pieces,
                    references: Vec::new(),
                };
                let items = read.into_iter().enumerate().map(item).collect();
                let choice = Piece::Choice { items, instead: None, place: 0..0 };
                (of <= choices::MOST).then(|| Expression { pieces: vec![choice], references, ..Expression::default() })
            }
        }
    }

    /// The items of a list that is the value of a name in a place.
    pub(super) fn list(&self, file: usize, at: usize, path: &str, depth: usize) -> Option<Vec<Item>> {
        let found = self.declaration(file, at, path).filter(|found| found.element.is_none())?;
        lists::written(&Evaluator::new(self, found.file), found.value, depth)
    }

    /// The lists that all calls give a function for the parameter that is named at a token, as they are joined there.
    pub(super) fn given_lists(
        &self,
        file: usize,
        at: usize,
        name: &str,
        (separator, depth): (&str, usize),
    ) -> Option<Piece> {
        let Given { items } = self.given(file, at, name, (depth, true))?;
        let place = self.files[file].tokens[at].range.clone();
        let joined = |piece: Piece| match piece {
            Piece::List { items, place, .. } => Piece::List { items, separator: separator.to_owned(), place },
            piece => piece,
        };
        let with = |item: Item| Item { pieces: item.pieces.into_iter().map(joined).collect(), ..item };
        let items = items.into_iter().map(with).collect();
        Some(Piece::Choice { items, instead: None, place: place.clone() }.at(&place))
    }

    fn gathered(
        &self,
        function: &str,
        (parameter, count): (usize, usize),
        (depth, is_list): (usize, bool),
    ) -> Option<Given> {
        let own = self.files.iter().enumerate().take(self.own);
        let named = own.clone().flat_map(|(_, code)| &code.functions).filter(|one| one.name == function);
        if named.count() != 1 {
            return None;
        }
        let mut found: Vec<(Vec<Piece>, Vec<Reference>)> = Vec::new();
        for (file, code) in own {
            let is_own = |at: usize| code.functions.iter().any(|one| one.place == code.tokens[at].range);
            let calls = (0..code.tokens.len())
                .filter(|at| code.word(*at) == function && code.word(at + 1) == "(" && !is_own(*at));
            for call in calls {
                let evaluator = Evaluator::new(self, file);
                let arguments = evaluator.arguments(call + 2, code.behind(call + 1));
                let argument = arguments.get(parameter).filter(|_| arguments.len() == count)?;
                if is_list {
                    found.push((vec![lists::joined(&evaluator, argument, "", depth + 1)?], Vec::new()));
                    continue;
                }
                let mut read = evaluator.argument(argument, depth + 1);
                read.references.push(within(file, argument.start));
                match read.pieces.as_slice() {
                    // What the function that calls is given itself.
                    [Piece::Choice { items, instead: Some(_), .. }] => {
                        found.extend(items.iter().map(|item| (item.pieces.clone(), read.references.clone())));
                    }
                    _ => found.push((read.pieces, read.references)),
                }
            }
        }
        let is_text = |pieces: &[Piece]| {
            let known = pieces.iter().map(|piece| match piece {
                Piece::Known { text, .. } => Some(text.as_str()),
                _ => None,
            });
            let text = known.collect::<Option<Vec<&str>>>().map(|texts| texts.concat());
            text.is_some_and(|text| !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit()))
        };
        let of = found.len();
        if !(1..=MOST).contains(&of) || !is_list && !found.iter().all(|(pieces, _)| is_text(pieces)) {
            return None;
        }
        // The parameters of one call belong together, so each call is a branch.
        let item = |(at, (pieces, references))| Item { when: When::Arm { at, of }, pieces, references };
        Some(Given { items: found.into_iter().enumerate().map(item).collect() })
    }

    /// What a name is given, read once.
    fn value(&self, found: &Declaration, depth: usize) -> Option<Expression> {
        let place = (found.file, found.value);
        if let Some(read) = self.read.borrow().get(&place) {
            return read.clone();
        }
        self.read.borrow_mut().insert(place, None);
        let read = Evaluator::new(self, found.file).expression(found.value, depth);
        self.read.borrow_mut().insert(place, read.clone());
        read
    }

    /// The text of a constant, if a constant it is and a text.
    pub(super) fn constant(&self, file: usize, at: usize, path: &str, depth: usize) -> Option<Value> {
        if is_too_deep(depth) {
            return None;
        }
        let (found, is_changed) = self.found(file, at, path)?;
        let read = match found.element {
            Some(element) => Evaluator::new(self, found.file).element(found.value, element, depth + 1)?,
            None => self.value(&found, depth + 1)?,
        };
        // The whole value is the text, or it is something else that begins so.
        let is_end = is_end(&self.files[found.file], read.end);
        let is_text = |read: &Expression| read.pieces.iter().any(Piece::is_known) || marks::is_list(&read.pieces);
        if !is_end || !is_text(&read) || is_changed && found.function.is_none() {
            return None;
        }
        let code = &self.files[found.file];
        let growth = Growth { package: self, file, variable: code.word(found.name), depth: depth + 1 };
        let read = if is_changed { growth.value(read, at)? } else { read };
        is_text(&read).then_some(Value {
            pieces: read.pieces,
            references: read.references,
            file: found.file,
            within: within(found.file, found.value),
        })
    }

    /// Whether what is given to a name is a part of other texts alone: all that name it were followed.
    pub(super) fn is_part(&self, file: usize, value: usize, followed: &BTreeSet<Reference>) -> bool {
        if let Some((file, value)) = self.branches.get(&(file, value)) {
            return self.is_part(*file, *value, followed);
        }
        let Some((name, own)) = self.values.get(&(file, value)) else {
            return followed.contains(&within(file, value));
        };
        let means_it = |other: usize, at: usize| {
            self.found(other, at, name).is_some_and(|(found, _)| (found.file, found.value) == (file, value))
                && !adds(&self.files[other], at)
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

/// The tokens at which a name is known that is given the value which begins here: from the end of the statement to that of
/// the block.
fn scope(code: &Code<'_>, value: usize) -> Range<usize> {
    let (mut at, mut start) = (value, None);
    while at < code.tokens.len() && code.word(at) != "}" {
        if start.is_none() && at > value && (code.word(at) == ";" || is_line_end(code, at)) {
            start = Some(at);
        }
        at = code.over(at);
    }
    start.unwrap_or(at)..at
}

/// Whether a name is added to or given another value at a token.
fn adds(code: &Code<'_>, at: usize) -> bool {
    let writes = |name: &str| ["write", "writeln", "Fprintf", "Fprint"].contains(&name);
    let is_method = code.word(at + 1) == "." && GROWING.contains(&code.word(at + 2));
    let is_given = code.word(at + 1) == "=" || code.word(at + 1) == "+" && code.word(at + 2) == "=";
    let is_written = code.word(at + 1) == "," && (2..6).any(|back| writes(code.before(at, back)));
    is_method || is_given || is_written
}

/// The names of a tuple that is given a value here: `let (first, second) = …`.
fn elements(code: &Code<'_>, equals: usize) -> Vec<usize> {
    if code.language != Language::Rust || code.word(equals) != "=" || code.before(equals, 1) != ")" {
        return Vec::new();
    }
    let open = (0..equals).rev().take(40).find(|at| code.word(*at) == "(");
    let Some(open) = open.filter(|open| code.before(*open, 1) == "let") else { return Vec::new() };
    let names = (open + 1..equals - 1).filter(|at| code.is(*at, Kind::Word) && code.word(*at) != "mut");
    names.collect()
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

/// Whether a value ends before this token.
fn is_end(code: &Code<'_>, at: usize) -> bool {
    matches!(code.word(at), "" | ";" | ")" | "}" | ",") || is_line_end(code, at)
}

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
