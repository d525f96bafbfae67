//! Reads a header: `-- name: noun_verb :one`.

use crate::diagnostic::Diagnostic;
use crate::names::is_kept;
use crate::page::Cardinality;
use crate::rule;
use crate::source::Span;

use super::line::Comment;

const SHAPE: &str = "-- name: noun_verb :one|:opt|:many|:exec|:rows|:stream";

/// What a header says. `cardinality` is a guess when there is a finding about it.
#[derive(Debug)]
pub(super) struct Header {
    /// The name in snake case, turned into one that can be generated when it was bad.
    pub(super) name: String,
    pub(super) name_span: Span,
    pub(super) cardinality: Option<Cardinality>,
    pub(super) cardinality_span: Span,
}

/// Reads a header line. `None` when it gives no name at all.
pub(super) fn read(comment: Comment<'_>, body: &str, noun: &str, found: &mut Vec<Diagnostic>) -> Option<Header> {
    let mut words = body.split_whitespace();
    let (name, mode) = match (words.next(), words.next()) {
        (Some(name), mode) if !name.starts_with(':') => (name, mode),
        _ => {
            let message = format!("{noun}: a header without a name");
            found.push(
                Diagnostic::error(rule::BAD_HEADER, message, comment.span(), "no name")
                    .help(format!("write `{SHAPE}`")),
            );
            return None;
        }
    };
    let name_span = comment.span_of(name);
    let sound = sound_name(name, noun);
    if sound != name && !(is_camel(name) && is_snake(&sound) && !is_kept(&name.to_lowercase())) {
        let why = if is_kept(name) { "a word of Rust, so no function can have it" } else { "not in lower snake case" };
        let message = format!("`{name}` cannot name a statement: it is {why}");
        found.push(Diagnostic::error(rule::BAD_NAME, message, name_span, "bad name").help(format!("write `{sound}`")));
    }
    let cardinality_span = mode.map_or(comment.span(), |mode| comment.span_of(mode));
    let cardinality = read_mode(mode, name, cardinality_span, found);
    if let Some(extra) = words.next() {
        let rest = body[extra.as_ptr() as usize - body.as_ptr() as usize..].trim_end();
        let message = format!("{name}: the header goes on after its cardinality");
        let finding = Diagnostic::error(rule::BAD_HEADER, message, comment.span_of(rest), "does not belong here");
        found.push(finding.help("put documentation on comment lines above the header"));
    }
    Some(Header { name: sound, name_span, cardinality, cardinality_span })
}

fn read_mode(mode: Option<&str>, name: &str, span: Span, found: &mut Vec<Diagnostic>) -> Option<Cardinality> {
    let Some(mode) = mode else {
        let message = format!("{name}: the header does not say how many rows the statement gives");
        let finding = Diagnostic::error(rule::BAD_HEADER, message, span, "no cardinality");
        found.push(finding.help(format!("write `{SHAPE}`")));
        return None;
    };
    let word = mode.strip_prefix(':').unwrap_or(mode);
    if let (Some(cardinality), true) = (cardinality(word), mode.starts_with(':')) {
        return Some(cardinality);
    }
    let message = format!("{name}: `{mode}` is not a cardinality");
    let lower = word.to_lowercase();
    let near = CARDINALITIES.iter().find(|(known, _)| strsim::osa_distance(known, &lower) <= 1);
    let help = match near {
        Some((known, _)) => format!("write `:{known}`"),
        None if word == "execlastid" => {
            "write `:one`, and `RETURNING` with the key at the end of the statement".to_owned()
        }
        None => "write one of `:one`, `:opt`, `:many`, `:exec`, `:rows`, `:stream`".to_owned(),
    };
    found.push(Diagnostic::error(rule::BAD_HEADER, message, span, "not a cardinality").help(help));
    near.map(|(_, cardinality)| *cardinality)
}

/// The cardinalities by word; those behind `:stream` are sqlc's. Its batches and copies run one statement for many
/// sets of parameters; the generated function takes one set.
const CARDINALITIES: [(&str, Cardinality); 12] = [
    ("one", Cardinality::One),
    ("opt", Cardinality::Opt),
    ("many", Cardinality::Many),
    ("exec", Cardinality::Exec),
    ("rows", Cardinality::Rows),
    ("stream", Cardinality::Stream),
    ("execrows", Cardinality::Rows),
    ("execresult", Cardinality::Rows),
    ("batchexec", Cardinality::Exec),
    ("batchone", Cardinality::One),
    ("batchmany", Cardinality::Many),
    ("copyfrom", Cardinality::Exec),
];

fn cardinality(word: &str) -> Option<Cardinality> {
    CARDINALITIES.iter().find(|(known, _)| *known == word).map(|(_, cardinality)| *cardinality)
}

/// The name itself when it is good, else the nearest good one. The noun may be no name either.
pub(super) fn sound_name(name: &str, noun: &str) -> String {
    let noun = if is_snake(noun) { noun } else { "statement" };
    if is_snake(name) && !is_kept(name) {
        return name.to_owned();
    }
    let mut words = String::new();
    let mut before = '_';
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let ends_word = before.is_ascii_lowercase() || before.is_ascii_digit();
        let ends_capitals = before.is_ascii_uppercase() && chars.peek().is_some_and(char::is_ascii_lowercase);
        if c.is_ascii_uppercase() && (ends_word || ends_capitals) {
            words.push('_');
        }
        words.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
        before = c;
    }
    let words: Vec<&str> = words.split('_').filter(|word| !word.is_empty()).collect();
    let joined = words.join("_");
    if is_snake(&joined) && !is_kept(&joined) {
        joined
    } else if joined.is_empty() {
        format!("{noun}_run")
    } else {
        format!("{noun}_{joined}")
    }
}

fn is_snake(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .split('_')
            .all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
}

/// `LeaseRenew` or `leaseRenew`, as sqlc's users name statements.
fn is_camel(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.bytes().all(|b| b.is_ascii_alphanumeric())
}
