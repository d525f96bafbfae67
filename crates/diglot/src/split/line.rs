//! Reads one comment line: a header, an annotation, a mistyped one of these, or prose.

mod arguments;
mod rows;

use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::page::{Annotation, AnnotationKind, Argument, PartParam, TYPE_WORDS};
use crate::rule;
use crate::source::{FileId, Span};
use crate::types::{Base, Type};

/// The fewest words that count as a reason.
const REASON_WORDS: usize = 3;

/// A comment line without its dashes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Comment<'a> {
    pub(super) file: FileId,
    /// Where the dashes start.
    pub(super) start: usize,
    /// The whole comment, dashes included.
    pub(super) text: &'a str,
}

/// What a comment line says.
#[derive(Debug)]
pub(super) enum Line {
    /// Plain prose.
    Prose,
    /// An annotation; a finding about its reason may come with it.
    Annotation(Annotation, Option<Diagnostic>),
    /// Several of one kind, behind each other in one line.
    Annotations(Vec<Annotation>),
    /// `-- returns`.
    Returns,
    /// `-- if: param`.
    If(String),
    /// `-- order: name`.
    Order(String),
    /// `-- page: name`.
    Page(String),
    /// `-- end`.
    End,
    /// `-- use: NAME`, with what it is given.
    Use(String, Vec<Argument>),
    /// `-- require: NAME`.
    Require(String),
    /// Looks like an annotation and is none.
    Wrong(Diagnostic),
}

impl<'a> Comment<'a> {
    pub(super) fn span(self) -> Span {
        Span::new(self.file, self.start..self.start + self.text.len())
    }

    /// The text behind the dashes, trimmed.
    pub(super) fn body(self) -> &'a str {
        self.text.strip_prefix("--").unwrap_or(self.text).trim()
    }

    /// The place of a piece of this comment.
    pub(super) fn span_of(self, piece: &str) -> Span {
        let offset = (piece.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let start = self.start + offset.min(self.text.len());
        Span::new(self.file, start..start + piece.len())
    }

    /// The text behind `name:` when the comment is a header; sqlc also reads one in a block comment of one line.
    pub(super) fn header(self) -> Option<&'a str> {
        let body = match self.text.strip_prefix("/*") {
            Some(block) if block.contains('\n') => return None,
            Some(block) => block.strip_suffix("*/")?.trim(),
            None => self.body(),
        };
        body.strip_prefix("name")?.trim_start().strip_prefix(':')
    }

    /// The name behind `part:`, when the comment begins a shared part.
    pub(super) fn part(self) -> Option<&'a str> {
        self.called_part().map(|(name, _)| name)
    }

    fn called_part(self) -> Option<(&'a str, Option<&'a str>)> {
        let body = self.text.strip_prefix("--")?.trim();
        arguments::called(body.strip_prefix("part")?.trim_start().strip_prefix(':')?)
    }

    /// What that shared part takes.
    pub(super) fn taken(self, owner: &str) -> Result<Vec<PartParam>, Diagnostic> {
        let inside = self.called_part().and_then(|(_, inside)| inside);
        let taken = inside.map_or(Ok(Vec::new()), |inside| arguments::taken(self, inside));
        taken.map_err(|wrong| wrong.finding(self, owner))
    }
}

/// Reads a comment line that is no header. `owner` is the statement in whose name findings speak.
pub(super) fn read(comment: Comment<'_>, owner: &str) -> Line {
    let body = comment.body();
    if body == "returns" {
        return Line::Returns;
    }
    let (word, rest) = first_word(body);
    if let Some(all) = several(comment, word, rest.trim_start(), owner) {
        return Line::Annotations(all);
    }
    let line = match (word, rest.trim_start()) {
        ("diverges", rest) if rest.starts_with('(') => diverges(comment, rest),
        ("allow", rest) if rest.starts_with('(') => allow(comment, rest),
        ("only", rest) if rest.starts_with(':') => only(comment, &rest[1..]),
        ("each", rest) if rest.strip_prefix(':').is_some_and(|rest| is_identifier(first_word(rest.trim()).0)) => {
            each(&rest[1..])
        }
        ("param", rest) if rest.starts_with(':') => typed(comment, "param", &rest[1..]),
        ("column", rest) if rest.starts_with(':') => typed(comment, "column", &rest[1..]),
        ("rows", rest) if rows::is_meant(rest) => rows::read(comment, rest),
        ("transaction", rest) if rest.strip_prefix(':').is_some_and(|name| is_identifier(name.trim())) => {
            Ok(AnnotationKind::Transaction { name: rest[1..].trim().to_owned() })
        }
        ("if", rest) if rest.starts_with(':') => match condition(comment, &rest[1..]) {
            Ok(param) => return Line::If(param),
            Err(wrong) => Err(wrong),
        },
        ("order", rest) if rest.strip_prefix(':').is_some_and(|name| is_identifier(name.trim())) => {
            return Line::Order(rest[1..].trim().to_lowercase());
        }
        ("page", rest) if rest.strip_prefix(':').is_some_and(|name| is_identifier(name.trim())) => {
            return Line::Page(rest[1..].trim().to_lowercase());
        }
        ("both", "") => Ok(AnnotationKind::Both),
        ("end", "") => return Line::End,
        ("require", rest) if rest.strip_prefix(':').is_some_and(|name| is_identifier(name.trim())) => {
            return Line::Require(rest[1..].trim().to_lowercase());
        }
        ("use", rest) if rest.strip_prefix(':').is_some_and(|name| arguments::called(name).is_some()) => {
            let (name, inside) = arguments::called(&rest[1..]).unwrap_or_default();
            match inside.map_or(Ok(Vec::new()), |inside| arguments::given(comment, inside)) {
                Ok(given) => return Line::Use(name.to_owned(), given),
                Err(wrong) => Err(wrong),
            }
        }
        _ => return near_miss(comment, word, rest, owner),
    };
    match line {
        Ok(kind) => {
            let finding = reason_finding(comment, &kind, owner);
            Line::Annotation(Annotation { span: comment.span(), kind }, finding)
        }
        Err(mut wrong) => match wrong.meant.take() {
            Some(kind) => {
                let annotation = Annotation { span: comment.span(), kind: *kind };
                Line::Annotation(annotation, Some(wrong.finding(comment, owner)))
            }
            None => Line::Wrong(wrong.finding(comment, owner)),
        },
    }
}

/// Several annotations in one line: `-- param: a i64, b text null`, or facts that differ for one reason. None where
/// there is one, or where one of them is wrong by itself.
fn several(comment: Comment<'_>, word: &str, rest: &str, owner: &str) -> Option<Vec<Annotation>> {
    let (inside, behind) = match word {
        "param" | "column" => (rest.strip_prefix(':')?, ""),
        "diverges" => rest.strip_prefix('(')?.split_once(')')?,
        _ => return None,
    };
    let items: Vec<&str> = inside.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
    if items.len() < 2 {
        return None;
    }
    let each = items.into_iter().map(|item| {
        let kind = match word {
            "diverges" => diverges(comment, &format!("({item}){behind}")).ok()?,
            "param" => typed(comment, "param", item).ok()?,
            _ => typed(comment, "column", item).ok()?,
        };
        let span = comment.span_of(item);
        let kind = match kind {
            AnnotationKind::Diverges { fact, item, seal, reason, .. } => {
                AnnotationKind::Diverges { fact, item, seal, fact_span: span, reason }
            }
            kind => kind,
        };
        reason_finding(comment, &kind, owner).is_none().then_some(Annotation { span, kind })
    });
    each.collect()
}

/// Why an annotation does not parse, before it is known whose it is.
struct Wrong {
    message: String,
    label: String,
    help: String,
    at: Option<Span>,
    /// What was surely meant: it counts, so that no second finding follows from the first.
    meant: Option<Box<AnnotationKind>>,
}

impl Wrong {
    fn new(message: impl Into<String>, label: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), label: label.into(), help: help.into(), at: None, meant: None }
    }

    fn at(mut self, span: Span) -> Self {
        self.at = Some(span);
        self
    }

    fn meant(mut self, kind: Option<AnnotationKind>) -> Self {
        self.meant = kind.map(Box::new);
        self
    }

    fn finding(self, comment: Comment<'_>, owner: &str) -> Diagnostic {
        let message = format!("{owner}: {}", self.message);
        Diagnostic::error(rule::UNKNOWN_ANNOTATION, message, self.at.unwrap_or(comment.span()), self.label)
            .help(self.help)
    }
}

fn first_word(body: &str) -> (&str, &str) {
    let end = body.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').unwrap_or(body.len());
    body.split_at(end)
}

/// `(INSIDE) …` into the trimmed inside and what follows.
fn parenthesized(rest: &str) -> Option<(&str, &str)> {
    let (inside, after) = rest.strip_prefix('(')?.split_once(')')?;
    Some((inside.trim(), after.trim()))
}

/// The reason behind a colon, and whether the colon is there or not needed.
fn reason(after: &str) -> (String, bool) {
    let behind = after.strip_prefix(':');
    (behind.unwrap_or(after).trim().to_owned(), behind.is_some() || after.is_empty())
}

fn diverges(comment: Comment<'_>, rest: &str) -> Result<AnnotationKind, Wrong> {
    let shape = "write `-- diverges(FACT): REASON` or `-- diverges(FACT.ITEM): REASON`";
    let Some((inside, after)) = parenthesized(rest) else {
        return Err(Wrong::new("the parenthesis of `diverges(…)` is not closed", "no `)` in this line", shape));
    };
    let (named, seal) = match inside.split_once('#') {
        Some((named, seal)) => (named, Some(seal)),
        None => (inside, None),
    };
    let (fact, item) = match named.split_once('.') {
        Some((fact, item)) => (fact, Some(item)),
        None => (named, None),
    };
    let is_fact = !fact.is_empty() && fact.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c == '_');
    let is_item = item.is_none_or(|i| !i.is_empty() && i.chars().all(|c| c.is_alphanumeric() || "_.".contains(c)));
    let is_seal = seal.is_none_or(|seal| seal.chars().all(|c| c.is_ascii_hexdigit()));
    if !is_fact || !is_item || !is_seal {
        let message = format!("`{inside}` does not name one fact");
        let help = format!("{shape}; one line for each fact");
        return Err(Wrong::new(message, "one fact, with one item at most", help).at(comment.span_of(inside)));
    }
    let (reason, sound) = reason(after);
    let fact_span = comment.span_of(inside);
    let (fact, item, seal) = (fact.to_owned(), item.map(str::to_lowercase), seal.map(str::to_lowercase));
    let kind = AnnotationKind::Diverges { fact, item, seal, fact_span, reason };
    if sound {
        return Ok(kind);
    }
    Err(Wrong::new("`diverges(…)` is not followed by a colon", "a colon is missing", shape).meant(Some(kind)))
}

fn allow(comment: Comment<'_>, rest: &str) -> Result<AnnotationKind, Wrong> {
    let shape = "write `-- allow(RULE): REASON`";
    let Some((rule, after)) = parenthesized(rest) else {
        return Err(Wrong::new("the parenthesis of `allow(…)` is not closed", "no `)` in this line", shape));
    };
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ['-', '_', '.'].contains(&c);
    if rule.is_empty() || !rule.chars().all(is_part) {
        let message = format!("`{rule}` does not name one rule");
        let help = format!("{shape}; one line for each rule");
        return Err(Wrong::new(message, "one rule, in kebab case", help).at(comment.span_of(rule)));
    }
    let (reason, sound) = reason(after);
    let kind = AnnotationKind::Allow { rule: rule.to_owned(), reason };
    if sound {
        return Ok(kind);
    }
    Err(Wrong::new("`allow(…)` is not followed by a colon", "a colon is missing", shape).meant(Some(kind)))
}

/// What may stand before a reason.
const DASHES: [&str; 5] = ["—", "–", "--", "-", ":"];

fn only(comment: Comment<'_>, rest: &str) -> Result<AnnotationKind, Wrong> {
    let rest = rest.trim();
    let (word, after) = first_word(rest);
    let word = word.trim_end_matches('-');
    let after = if word.is_empty() { after } else { &rest[word.len()..] };
    let Some(dialect) = Dialect::ALL.into_iter().find(|d| d.word() == word) else {
        let meant = match word.to_lowercase().as_str() {
            "postgres" | "postgresql" | "psql" => Some(Dialect::Pg),
            "sqlite3" | "lite" => Some(Dialect::Sqlite),
            lower => Dialect::ALL.into_iter().find(|d| d.word() == lower),
        };
        let help = match meant {
            Some(dialect) => format!("write `-- only: {dialect} — REASON`"),
            None => "write `-- only: pg — REASON` or `-- only: sqlite — REASON`".to_owned(),
        };
        let reason = after.trim().to_owned();
        let at = comment.span_of(if word.is_empty() { rest } else { word });
        let wrong = Wrong::new(format!("`{word}` is not a dialect"), "not a dialect", help).at(at);
        return Err(wrong.meant(meant.map(|dialect| AnnotationKind::Only { dialect, reason })));
    };
    let after = after.trim();
    let reason = DASHES.iter().find_map(|mark| after.strip_prefix(mark)).unwrap_or_default();
    if reason.is_empty() && after.chars().any(char::is_alphanumeric) {
        let help = format!("write `-- only: {word} — {after}`");
        let kind = AnnotationKind::Only { dialect, reason: after.to_owned() };
        return Err(Wrong::new("`only` has no dash before its reason", "a dash is missing", help).meant(Some(kind)));
    }
    Ok(AnnotationKind::Only { dialect, reason: reason.trim().to_owned() })
}

/// The statement for one row, and why a list of its calls may fail as a whole where each of them does something.
fn each(rest: &str) -> Result<AnnotationKind, Wrong> {
    let (name, after) = first_word(rest.trim());
    let name = name.to_owned();
    let (by, after) = match first_word(after.trim()) {
        ("by", rest) if is_identifier(first_word(rest.trim()).0) => {
            let (field, after) = first_word(rest.trim());
            (Some(field.to_owned()), after.trim())
        }
        _ => (None, after.trim()),
    };
    if after.is_empty() {
        return Ok(AnnotationKind::Each { name, by, fails: None });
    }
    let dashed = after.strip_prefix("or fails").map(str::trim_start);
    let reason = dashed.map(|rest| DASHES.iter().find_map(|mark| rest.strip_prefix(mark)).unwrap_or(rest).trim());
    match reason {
        Some(reason) => Ok(AnnotationKind::Each { name, by, fails: Some(reason.to_owned()) }),
        None => Err(Wrong::new(
            "`each` takes the name of one statement",
            "more than a name",
            format!("write `-- each: {name}`, `-- each: {name} by FIELD` or `-- each: {name} or fails — REASON`"),
        )),
    }
}

fn typed(comment: Comment<'_>, what: &'static str, rest: &str) -> Result<AnnotationKind, Wrong> {
    let shape = format!("write `-- {what}: NAME TYPE` or `-- {what}: NAME TYPE null`");
    let words: Vec<&str> = rest.split_whitespace().collect();
    let (name, ty, nullable) = match words[..] {
        [name, ty] => (name, ty, false),
        [name, ty, "null"] => (name, ty, true),
        _ => return Err(Wrong::new(format!("`{what}` takes a name and a type"), "not a name and a type", shape)),
    };
    let name = name.strip_prefix([':', '@']).unwrap_or(name);
    if !is_identifier(name) {
        let message = format!("`{name}` is not the name of a {what}");
        return Err(Wrong::new(message, "not a name", shape).at(comment.span_of(name)));
    }
    let kind = |base: Base| {
        let (name, ty) = (name.to_owned(), Type { base, nullable });
        if what == "param" { AnnotationKind::Param { name, ty } } else { AnnotationKind::Column { name, ty } }
    };
    if let Some(base) = Base::from_word(ty) {
        return Ok(kind(base));
    }
    let meant = foreign_type(&ty.to_lowercase());
    let help = match meant {
        Some(word) => format!("write `-- {what}: {name} {word}{}`", if nullable { " null" } else { "" }),
        None => format!("the types are: {TYPE_WORDS}"),
    };
    let wrong = Wrong::new(format!("`{ty}` is not a type"), "not a type", help).at(comment.span_of(ty));
    Err(wrong.meant(meant.and_then(Base::from_word).map(kind)))
}

/// The word for a type that was named in the language of a database or of Rust.
fn foreign_type(word: &str) -> Option<&'static str> {
    Some(match word {
        "boolean" => "bool",
        "smallint" | "int2" => "i16",
        "int" | "int4" => "i32",
        "integer" | "bigint" | "int8" | "long" => "i64",
        "double" | "real" | "float" | "float8" => "f64",
        "string" | "varchar" | "str" => "text",
        "blob" | "bytea" => "bytes",
        "jsonb" => "json",
        "string[]" => "text[]",
        "bigint[]" | "int8[]" => "i64[]",
        _ => return None,
    })
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The parameter behind `if:`.
fn condition(comment: Comment<'_>, rest: &str) -> Result<String, Wrong> {
    let rest = rest.trim();
    let name = rest.strip_prefix([':', '@']).unwrap_or(rest);
    if is_identifier(name) {
        return Ok(name.to_owned());
    }
    let wrong = Wrong::new("`if` takes the name of one parameter", "not a name", "write `-- if: PARAM`");
    Err(if rest.is_empty() { wrong } else { wrong.at(comment.span_of(rest)) })
}

fn reason_finding(comment: Comment<'_>, kind: &AnnotationKind, owner: &str) -> Option<Diagnostic> {
    let (reason, what, shape) = match kind {
        AnnotationKind::Diverges { fact, item, reason, .. } => {
            let item = item.as_ref().map(|item| format!(".{item}")).unwrap_or_default();
            (reason, "divergence", format!("-- diverges({fact}{item}): REASON"))
        }
        AnnotationKind::Allow { rule, reason } => (reason, "exception", format!("-- allow({rule}): REASON")),
        AnnotationKind::Only { dialect, reason } => {
            (reason, "one-sided statement", format!("-- only: {dialect} — REASON"))
        }
        AnnotationKind::Each { name, fails: Some(reason), .. } => {
            (reason, "list that may fail", format!("-- each: {name} or fails — REASON"))
        }
        AnnotationKind::Both
        | AnnotationKind::Each { fails: None, .. }
        | AnnotationKind::Param { .. }
        | AnnotationKind::Column { .. }
        | AnnotationKind::Rows { .. }
        | AnnotationKind::Transaction { .. } => return None,
    };
    // What is offered to be written has a reason in angle brackets, in whose place somebody has to write one.
    let reason = if reason.starts_with('<') && reason.ends_with('>') { "" } else { reason.as_str() };
    let words = reason.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count();
    if words >= REASON_WORDS {
        return None;
    }
    let (message, span, label) = if words == 0 {
        ("has no reason", comment.span(), "why is this meant?")
    } else {
        ("has a reason of fewer than three words", comment.span_of_end(reason), "too short to convince a reader")
    };
    let help = format!("say in a few words why it is meant: `{shape}`");
    Some(Diagnostic::error(rule::MISSING_REASON, format!("{owner}: the {what} {message}"), span, label).help(help))
}

impl Comment<'_> {
    /// The place of the reason, which ends the comment.
    fn span_of_end(self, reason: &str) -> Span {
        let end = self.start + self.text.len();
        Span::new(self.file, end.saturating_sub(reason.len())..end)
    }
}

/// Tells prose from an annotation that somebody mistyped.
fn near_miss(comment: Comment<'_>, word: &str, rest: &str, owner: &str) -> Line {
    let lower = word.to_lowercase();
    let Some(meant) = nearest(&lower, rest.trim_start()) else {
        return Line::Prose;
    };
    let (message, label) = match (word == meant, lower == meant) {
        (true, _) => (format!("`{word}` is not written as an annotation"), "not understood".to_owned()),
        (_, true) => (format!("`{word}` is not an annotation"), format!("lower case: `{meant}`")),
        _ => (format!("`{word}` is not an annotation"), format!("did you mean `{meant}`?")),
    };
    let help = format!("write `{}`, or word the comment so that it reads as prose", shape(meant));
    let finding = Wrong::new(message, label, help).at(comment.span_of(word)).finding(comment, owner);
    let rest = rest.trim_start();
    let behind_colon = rest.strip_prefix(':');
    let kind = match (meant, behind_colon) {
        ("diverges", _) => diverges(comment, rest).ok(),
        ("allow", _) => allow(comment, rest).ok(),
        ("only", Some(said)) => only(comment, said).ok(),
        ("param" | "column", Some(said)) => typed(comment, meant, said).ok(),
        _ => None,
    };
    match kind {
        // It counts as what was meant, so that nothing follows from the slip.
        Some(kind) if word != meant => Line::Annotation(Annotation { span: comment.span(), kind }, Some(finding)),
        _ => Line::Wrong(finding),
    }
}

/// The annotation that a word is, or is a slip of the finger away from, if what is behind it looks like that.
fn nearest(word: &str, rest: &str) -> Option<&'static str> {
    const WORDS: [&str; 15] = [
        "diverges",
        "only",
        "each",
        "param",
        "column",
        "allow",
        "returns",
        "name",
        "if",
        "end",
        "use",
        "part",
        "require",
        "rows",
        "transaction",
    ];
    if word.is_empty() {
        return None;
    }
    let slips = |meant: &str| match meant.len() {
        0..=3 => 0,
        4..=5 => 1,
        _ => 2,
    };
    let length = word.chars().count();
    WORDS
        .into_iter()
        .filter(|meant| length.abs_diff(meant.len()) <= slips(meant) && looks_like_annotation(meant, word, rest))
        .map(|meant| (strsim::osa_distance(word, meant), meant))
        .filter(|(distance, meant)| *distance <= slips(meant))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, meant)| meant)
}

fn looks_like_annotation(meant: &str, word: &str, rest: &str) -> bool {
    let called = parenthesized(rest).is_some_and(|(_, after)| after.starts_with(':'));
    let (next, after) = first_word(rest);
    let after = after.trim_start();
    match meant {
        "name" => rest.starts_with(':') && rest.split_whitespace().any(|word| word.len() > 1 && word.starts_with(':')),
        "diverges" | "allow" => {
            called || rest.starts_with(':') || (!next.is_empty() && after.starts_with(':') && word == meant)
        }
        "only" => called || rest.starts_with(':') || Dialect::ALL.iter().any(|d| d.word() == next),
        "param" | "column" => {
            let ty = rest.split_whitespace().nth(1).unwrap_or_default();
            called || rest.starts_with(':') || Base::from_word(ty).is_some()
        }
        "returns" => rest.is_empty() || rest.starts_with(':'),
        "rows" => rows::is_meant(rest),
        // Prose may begin with such a word and a colon.
        "each" => rest.strip_prefix(':').is_some_and(|rest| is_identifier(first_word(rest.trim()).0)),
        "part" | "require" | "transaction" => rest.strip_prefix(':').is_some_and(|name| is_identifier(name.trim())),
        _ => called || rest.starts_with(':'),
    }
}

fn shape(meant: &str) -> &'static str {
    match meant {
        "diverges" => "-- diverges(FACT): REASON",
        "only" => "-- only: DIALECT — REASON",
        "param" => "-- param: NAME TYPE",
        "column" => "-- column: NAME TYPE",
        "allow" => "-- allow(RULE): REASON",
        "returns" => "-- returns",
        "name" => "-- name: noun_verb :one",
        "if" => "-- if: PARAM",
        "use" => "-- use: NAME(ARGUMENT = VALUE)",
        "part" => "-- part: NAME",
        "require" => "-- require: NAME",
        "rows" => "-- rows: NAME(FIELD TYPE, …)",
        "transaction" => "-- transaction: NAME",
        "each" => "-- each: NAME",
        _ => "-- end",
    }
}
