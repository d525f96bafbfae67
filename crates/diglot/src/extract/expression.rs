//! What an expression of Go or Rust gives as a text, as far as constants say it.

use std::ops::Range;

use super::choices;
use super::code::Code;
use super::lists::{self, Item};
use super::literal::{Kind, Language, unescaped};
use super::marked::{Part, Which, parts};
use super::marks;
use super::package::{Package, Value};

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// What is known: the text, in as many bytes as its place has where it is written there.
    Known { text: String, place: Range<usize> },
    /// What only the running program knows: what is called or named, how it is written, and where.
    Hole { path: String, code: String, place: Range<usize> },
    /// Texts of a list, of which some may be left out, with what stands between two of them.
    List { items: Vec<Item>, separator: String, place: Range<usize> },
    /// Texts of which one stands there, or more or none: what branches of the program give, or calls of a function.
    Choice {
        items: Vec<Item>,
        /// What stands there where one value is all that the place takes.
        instead: Option<Box<Piece>>,
        place: Range<usize>,
    },
}

impl Piece {
    pub(super) fn place(&self) -> &Range<usize> {
        match self {
            Self::Known { place, .. }
            | Self::Hole { place, .. }
            | Self::List { place, .. }
            | Self::Choice { place, .. } => place,
        }
    }

    /// The same, shown at another place.
    pub(super) fn at(self, place: &Range<usize>) -> Self {
        let all = |items: Vec<Item>| {
            let moved =
                |item: Item| Item { pieces: item.pieces.into_iter().map(|one| one.at(place)).collect(), ..item };
            items.into_iter().map(moved).collect()
        };
        match self {
            Self::Known { text, .. } => Self::Known { text, place: place.clone() },
            Self::Hole { path, code, .. } => Self::Hole { path, code, place: place.clone() },
            Self::List { items, separator, .. } => Self::List { items: all(items), separator, place: place.clone() },
            Self::Choice { items, instead, .. } => Self::Choice { items: all(items), instead, place: place.clone() },
        }
    }

    /// Whether some of it is known.
    pub(super) fn is_known(&self) -> bool {
        matches!(self, Self::Known { .. } | Self::Choice { .. })
    }

    /// What of it is known, with its blanks.
    pub(super) fn code_as_written(&self) -> &str {
        match self {
            Self::Known { text, .. } => text,
            other => other.code(),
        }
    }

    /// What stands for it in a part that nobody can follow.
    pub(super) fn code(&self) -> &str {
        match self {
            Self::Known { text, .. } => text.trim(),
            Self::Hole { code, .. } => code,
            Self::List { separator, .. } => separator,
            Self::Choice { items, .. } => items.first().and_then(|item| item.pieces.first()).map_or("", Self::code),
        }
    }
}

/// A reference to a constant: the file, and the token.
pub(super) type Reference = (usize, usize);

/// An expression as it was read.
#[derive(Debug, Clone, Default)]
pub(super) struct Expression {
    pub(super) pieces: Vec<Piece>,
    /// The token behind it.
    pub(super) end: usize,
    /// The constants that were followed.
    pub(super) references: Vec<Reference>,
    /// Whether it is more than one literal or one name.
    pub(super) is_composed: bool,
}

/// What stands between the names of one part that only the running program knows.
pub(super) const ALSO: char = '\u{1}';

/// How many brackets, calls and constants are followed through one another.
const DEPTH: usize = 16;

/// Calls that hand on the text that they are given.
const PASSING: [&str; 8] = [
    "String::from",
    "strings.TrimSpace",
    "Cow::Borrowed",
    "Cow::from",
    "AssertSqlSafe",
    "string",
    "sqlx::AssertSqlSafe",
    "str::from",
];
/// Methods that hand on their text.
const SAME: [&str; 9] =
    ["to_string", "to_owned", "into", "as_str", "clone", "as_ref", "trim", "to_string_lossy", "String"];
/// Calls and macros that fill texts into a text.
const FILLING: [&str; 4] = ["Sprintf", "format", "format_args", "formatcp"];
/// Macros that put constants one behind the other.
const JOINING: [&str; 3] = ["concat", "concatcp", "concat_str"];

/// The most parts of a text: constants that name each other many times would grow without end.
const PIECES: usize = 5_000;

pub(super) struct Evaluator<'p, 't> {
    pub(super) package: &'p Package<'t>,
    pub(super) file: usize,
    /// A variable that stands for itself.
    pub(super) itself: Option<&'t str>,
}

impl<'p, 't> Evaluator<'p, 't> {
    pub(super) fn new(package: &'p Package<'t>, file: usize) -> Self {
        Self { package, file, itself: None }
    }

    pub(super) fn code(&self) -> &'p Code<'t> {
        &self.package.files[self.file]
    }

    /// The expression that begins with this token.
    pub(super) fn expression(&self, at: usize, depth: usize) -> Option<Expression> {
        let code = self.code();
        let mut whole = self.operand(at, depth)?;
        let mut is_sum = false;
        while code.word(whole.end) == "+" && code.word(whole.end + 1) != "=" {
            is_sum |= code.word(whole.end + 1).starts_with(|c: char| c.is_ascii_digit());
            let Some(next) = self.operand(whole.end + 1, depth) else {
                let end = whole.end + 2;
                whole.pieces.push(self.hole(whole.end + 1..end, String::new()));
                whole.end = end;
                whole.is_composed = true;
                break;
            };
            whole.pieces.extend(next.pieces);
            whole.references.extend(next.references);
            whole.end = next.end;
            whole.is_composed = true;
            if whole.pieces.len() > PIECES {
                return None;
            }
        }
        if is_sum {
            // A number that is calculated.
            let end = whole.end;
            return Some(Expression { pieces: vec![self.hole(at..end, String::new())], end, ..Expression::default() });
        }
        Some(whole)
    }

    /// An element of the tuple that begins with this token, or of those that branches give.
    pub(super) fn element(&self, at: usize, element: usize, depth: usize) -> Option<Expression> {
        let code = self.code();
        if ["if", "match"].contains(&code.word(at)) {
            return choices::chosen(self, at, Some(element), depth);
        }
        let behind = code.behind(at);
        let tokens = choices::tuple(self, &(at..behind), element)?;
        Some(Expression { end: behind, ..self.argument(&tokens, depth) })
    }

    fn hole(&self, tokens: Range<usize>, path: String) -> Piece {
        let (code, place) = self.code().written(tokens);
        Piece::Hole { path, code: code.split_whitespace().collect::<Vec<_>>().join(" "), place }
    }

    fn operand(&self, at: usize, depth: usize) -> Option<Expression> {
        if is_too_deep(depth) {
            return None;
        }
        let code = self.code();
        let start = at;
        let mut at = at;
        while ["&", "*"].contains(&code.word(at)) {
            at += 1;
        }
        let token = code.tokens.get(at)?;
        let mut read = match token.kind {
            Kind::Text => {
                let pieces = vec![self.literal(at)];
                Expression { pieces, end: at + 1, ..Expression::default() }
            }
            Kind::Symbol if code.word(at) == "(" => {
                let inner = self.expression(at + 1, depth + 1)?;
                if code.word(inner.end) != ")" {
                    return None;
                }
                Expression { end: inner.end + 1, ..inner }
            }
            Kind::Word if code.word(at).starts_with(|c: char| c.is_ascii_digit()) => {
                let piece = Piece::Known { text: code.word(at).to_owned(), place: token.range.clone() };
                Expression { pieces: vec![piece], end: at + 1, ..Expression::default() }
            }
            Kind::Word if code.language == Language::Rust && ["if", "match"].contains(&code.word(at)) => {
                choices::chosen(self, at, None, depth)?
            }
            Kind::Word => self.named(at, depth)?,
            Kind::Symbol if code.word(at) == "[" && code.language == Language::Go => self.slice(at)?,
            Kind::Symbol => return None,
        };
        while code.word(read.end) == "." && code.is(read.end + 1, Kind::Word) {
            let open = self.behind_types(read.end + 2);
            let is_call = code.word(open) == "(";
            let end = if is_call { code.behind(open) } else { open };
            let method = code.word(read.end + 1);
            let is_list = marks::is_list(&read.pieces) || method == "join" && self.gives_marks(start..read.end);
            if is_call && (is_list || method == "repeat" && marks::repeated(&read.pieces).is_some()) {
                read.pieces = vec![marks::hole(&read.pieces)];
            } else if !(is_call && SAME.contains(&method)) {
                read.pieces = vec![self.hole(start..end, method.to_owned())];
            }
            read.end = end;
        }
        if code.word(read.end) == "[" && code.language == Language::Go {
            let end = code.behind(read.end);
            read.pieces = vec![self.hole(start..end, String::new())];
            read.end = end;
        }
        Some(read)
    }

    /// The token behind the types that a method of Rust is given, `::<Vec<_>>`, if it is given any.
    fn behind_types(&self, at: usize) -> usize {
        let code = self.code();
        if code.word(at) != "::" || code.word(at + 1) != "<" {
            return at;
        }
        let mut depth = 0_i32;
        let close = (at + 1..code.tokens.len()).find(|at| {
            depth += i32::from(code.word(*at) == "<") - i32::from(code.word(*at) == ">");
            depth == 0
        });
        close.map_or(at, |close| close + 1)
    }

    /// Whether the only texts of a chain of calls are marks of parameters: `ids.iter().map(|_| "?").collect()`.
    fn gives_marks(&self, tokens: Range<usize>) -> bool {
        let code = self.code();
        let mut texts = tokens.filter(|at| code.is(*at, Kind::Text)).map(|at| self.literal(at)).peekable();
        texts.peek().is_some() && texts.all(|piece| marks::repeated(&[piece]).is_some())
    }

    /// A list of Go, which is no text itself.
    fn slice(&self, at: usize) -> Option<Expression> {
        let open = (at..at + 6).find(|at| self.code().word(*at) == "{")?;
        let end = self.code().behind(open);
        Some(Expression { pieces: vec![self.hole(at..end, String::new())], end, ..Expression::default() })
    }

    /// The text of a literal.
    fn literal(&self, at: usize) -> Piece {
        let code = self.code();
        let token = &code.tokens[at];
        let text = &code.text[token.inner.clone()];
        let text = if token.is_raw { text.to_owned() } else { unescaped(text) };
        Piece::Known { text, place: token.inner.clone() }
    }

    /// What begins with a name: a constant, a variable, a call or a macro.
    fn named(&self, at: usize, depth: usize) -> Option<Expression> {
        let code = self.code();
        let (mut end, mut path) = (at + 1, code.word(at).to_owned());
        loop {
            match code.word(end) {
                "." | "::" if code.is(end + 1, Kind::Word) && !SAME.contains(&code.word(end + 1)) => {
                    path = format!("{path}{}{}", code.word(end), code.word(end + 1));
                    end += 2;
                }
                // The types that a function of Rust is given.
                "::" if code.word(end + 1) == "<" => {
                    let close = (end + 1..end + 40).find(|at| code.word(*at) == ">")?;
                    end = close + 1;
                }
                _ => break,
            }
        }
        let last = path.rsplit(['.', ':']).next().unwrap_or_default().to_owned();
        let is_macro = code.word(end) == "!" && ["(", "[", "{"].contains(&code.word(end + 1));
        let open = if is_macro { end + 1 } else { end };
        if is_macro || code.word(open) == "(" {
            let behind = code.behind(open);
            let read = match last.as_str() {
                name if FILLING.contains(&name) => self.filled(open + 1, behind, depth + 1),
                name if JOINING.contains(&name) && is_macro => self.joined(open + 1, behind, depth + 1),
                "Join" if path == "strings.Join" => {
                    let list = self.list(open + 1, behind, depth + 1);
                    let last = (open + 2..behind).step_by(2).find(|at| code.word(*at) != ".").unwrap_or(open + 2);
                    path = format!("{path}.{}", code.written(open + 1..last).0);
                    list
                }
                "join" if code.word(at + 1) == "." && code.word(at + 2) == "join" => {
                    self.joined_variable(at, (open, behind), depth + 1)
                }
                "Repeat" | "TrimSuffix" | "TrimRight" | "vec" => self
                    .expression(open + 1, depth + 1)
                    .filter(|inner| marks::repeated(&inner.pieces).is_some())
                    .map(|inner| Expression { pieces: vec![marks::hole(&inner.pieces)], ..inner }),
                "new" if path == "String::new" => {
                    let empty = Piece::Known { text: String::new(), place: code.written(at..behind).1 };
                    Some(Expression { pieces: vec![empty], ..Expression::default() })
                }
                _ if PASSING.contains(&path.as_str()) || path.ends_with("QueryBuilder::new") => {
                    self.expression(open + 1, depth + 1).filter(|inner| inner.end + 1 == behind)
                }
                // What stands elsewhere is shown where it is called.
                _ if !is_macro => self.package.returned(&path, depth + 1).map(|read| {
                    let place = code.written(at..behind).1;
                    let pieces = read.pieces.into_iter().map(|piece| piece.at(&place)).collect();
                    Expression { pieces, is_composed: false, ..read }
                }),
                _ => None,
            };
            return Some(match read {
                Some(read) => Expression { end: behind, ..read },
                None => Expression { pieces: vec![self.hole(at..behind, path)], end: behind, ..Expression::default() },
            });
        }
        if let Some(read) = self.constant(at, &path, depth) {
            let mut references = read.references;
            references.push((self.file, end - 1));
            // What stands in another file is shown where it is named.
            let here = code.written(at..end).1;
            let is_here = read.file == self.file;
            let shown = |piece: Piece| if is_here { piece } else { piece.at(&here) };
            let pieces = read.pieces.into_iter().map(shown).collect();
            return Some(Expression { pieces, end, references, is_composed: false });
        }
        let unknown = self.unknown(at, path.clone(), at..end, depth);
        let (piece, references) = self.package.instead_of(unknown, self.file, at, &path, depth);
        Some(Expression { pieces: vec![piece], end, references, is_composed: false })
    }

    fn constant(&self, at: usize, path: &str, depth: usize) -> Option<Value> {
        if self.itself == Some(path) {
            return None;
        }
        self.package.constant(self.file, at, path, depth)
    }

    /// A name of which nobody knows the text, with what it is another name of.
    fn unknown(&self, at: usize, path: String, tokens: Range<usize>, depth: usize) -> Piece {
        let Some((behind, code)) = self.package.behind(self.file, at, &path, depth) else {
            return self.hole(tokens, path);
        };
        let (written, place) = self.code().written(tokens);
        let code = code.unwrap_or_else(|| written.to_owned());
        Piece::Hole { path: format!("{path}{ALSO}{behind}"), code, place }
    }

    /// The arguments from this token to the bracket that closes them.
    pub(super) fn arguments(&self, from: usize, behind: usize) -> Vec<Range<usize>> {
        let code = self.code();
        let (mut arguments, mut start, mut at) = (Vec::new(), from, from);
        let end = behind.saturating_sub(1);
        while at < end {
            match code.word(at) {
                "," => {
                    arguments.push(start..at);
                    at += 1;
                    start = at;
                }
                "(" | "[" | "{" => at = code.behind(at).max(at + 1),
                _ => at += 1,
            }
        }
        if start < end {
            arguments.push(start..end);
        }
        arguments
    }

    pub(super) fn argument(&self, tokens: &Range<usize>, depth: usize) -> Expression {
        match self.expression(tokens.start, depth) {
            Some(read) if read.end == tokens.end => read,
            _ => Expression {
                pieces: vec![self.hole(tokens.clone(), String::new())],
                end: tokens.end,
                ..Expression::default()
            },
        }
    }

    /// Constants one behind the other.
    fn joined(&self, from: usize, behind: usize, depth: usize) -> Option<Expression> {
        let mut whole = Expression { is_composed: true, ..Expression::default() };
        for argument in self.arguments(from, behind) {
            let read = self.argument(&argument, depth);
            whole.pieces.extend(read.pieces);
            whole.references.extend(read.references);
        }
        (!whole.pieces.is_empty()).then_some(whole)
    }

    /// `strings.Join` of a list.
    fn list(&self, from: usize, behind: usize, depth: usize) -> Option<Expression> {
        let [list, between] = <[Range<usize>; 2]>::try_from(self.arguments(from, behind)).ok()?;
        self.joined_list(&list, &between, depth)
    }

    /// `conditions.join(" AND ")` of a list that the function gathers.
    fn joined_variable(&self, variable: usize, (open, behind): (usize, usize), depth: usize) -> Option<Expression> {
        let [between] = <[Range<usize>; 1]>::try_from(self.arguments(open + 1, behind)).ok()?;
        self.joined_list(&(variable..variable + 1), &between, depth)
    }

    fn joined_list(&self, list: &Range<usize>, between: &Range<usize>, depth: usize) -> Option<Expression> {
        let between = self.argument(between, 0).pieces;
        let [Piece::Known { text, .. }] = between.as_slice() else { return None };
        let list = lists::joined(self, list, text, depth)?;
        let references = lists::references(&list);
        // What is known as a whole is a text like any other.
        let pieces = lists::known(&list, &between).unwrap_or_else(|| vec![list]);
        Some(Expression { pieces, references, is_composed: true, ..Expression::default() })
    }

    /// What is filled into a text that begins at a token, up to the bracket that closes the call.
    pub(super) fn format(&self, from: usize, behind: usize) -> Expression {
        self.filled(from, behind, 0).unwrap_or_else(|| Expression {
            pieces: vec![self.hole(from..behind.saturating_sub(1), String::new())],
            ..Expression::default()
        })
    }

    /// A text into which others are filled.
    fn filled(&self, from: usize, behind: usize, depth: usize) -> Option<Expression> {
        let arguments = self.arguments(from, behind);
        let code = self.code();
        let format = self.expression(arguments.first()?.start, depth)?;
        if format.pieces.iter().any(|piece| !matches!(piece, Piece::Known { .. })) {
            return None;
        }
        let mut given: Vec<(Option<&str>, Expression)> = Vec::new();
        for argument in &arguments[1..] {
            let is_named = code.word(argument.start + 1) == "=" && code.language == Language::Rust;
            let name = is_named.then(|| code.word(argument.start));
            let value = if is_named { argument.start + 2..argument.end } else { argument.clone() };
            given.push((name, self.argument(&value, depth)));
        }
        let mut whole = Expression { is_composed: true, references: format.references, ..Expression::default() };
        let mut next = 0;
        for piece in format.pieces {
            let Piece::Known { text, place } = piece else { continue };
            // What is no longer than its place is written there, byte by byte.
            let at_place = |range: Range<usize>| match text.len() == place.len() {
                true => place.start + range.start..place.start + range.end,
                false => place.clone(),
            };
            for part in parts(&text, code.language) {
                match part {
                    Part::Text(range) => {
                        let known = text[range.clone()].to_owned();
                        whole.pieces.push(Piece::Known { text: known, place: at_place(range) });
                    }
                    Part::Mark(range, mark) => {
                        let read = match mark {
                            Which::Next => {
                                next += 1;
                                given.get(next - 1).map(|(_, read)| (read.pieces.clone(), read.references.clone()))
                            }
                            Which::At(index) => {
                                next = index + 1;
                                given.get(index).map(|(_, read)| (read.pieces.clone(), read.references.clone()))
                            }
                            Which::Name(name) => self.filled_name(&name, &given, &arguments, depth),
                        };
                        let hole = || {
                            let code = text[range.clone()].to_owned();
                            vec![Piece::Hole { path: String::new(), code, place: at_place(range.clone()) }]
                        };
                        let (pieces, references) = read.unwrap_or_else(|| (hole(), Vec::new()));
                        whole.pieces.extend(pieces);
                        whole.references.extend(references);
                    }
                }
            }
        }
        Some(whole)
    }

    /// What a name between braces stands for.
    fn filled_name(
        &self,
        name: &str,
        given: &[(Option<&str>, Expression)],
        arguments: &[Range<usize>],
        depth: usize,
    ) -> Option<(Vec<Piece>, Vec<Reference>)> {
        if let Some((_, read)) = given.iter().find(|(known, _)| *known == Some(name)) {
            return Some((read.pieces.clone(), read.references.clone()));
        }
        let at = arguments.first()?.start;
        let place = self.code().tokens[at].inner.clone();
        let Some(read) = self.constant(at, name, depth) else {
            let hole = match self.package.behind(self.file, at, name, depth) {
                Some((behind, code)) => {
                    let (path, code) = (format!("{name}{ALSO}{behind}"), code.unwrap_or_else(|| name.to_owned()));
                    Piece::Hole { path, code, place }
                }
                None => Piece::Hole { path: name.to_owned(), code: name.to_owned(), place },
            };
            let (piece, references) = self.package.instead_of(hole, self.file, at, name, depth);
            return Some((vec![piece], references));
        };
        let is_here = read.file == self.file;
        let shown = |piece: Piece| if is_here { piece } else { piece.at(&place) };
        let mut references = read.references;
        references.push(read.within);
        Some((read.pieces.into_iter().map(shown).collect(), references))
    }
}

/// Whether a chain of constants is too long to be followed on.
pub(super) fn is_too_deep(depth: usize) -> bool {
    depth > DEPTH
}
