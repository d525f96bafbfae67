//! The marks in a text of `Sprintf` or `format!`, where others are filled in.

use std::ops::Range;

use super::literal::Language;

/// A part of a text into which others are filled.
pub(super) enum Part {
    Text(Range<usize>),
    Mark(Range<usize>, Which),
}

/// Which argument is meant.
pub(super) enum Which {
    Next,
    At(usize),
    Name(String),
}

/// The parts of a text of `Sprintf` or `format!`.
pub(super) fn parts(text: &str, language: Language) -> Vec<Part> {
    let (mut parts, mut from, mut at) = (Vec::new(), 0, 0);
    let bytes = text.as_bytes();
    let plain = |parts: &mut Vec<Part>, range: Range<usize>| {
        if !range.is_empty() {
            parts.push(Part::Text(range));
        }
    };
    while at < bytes.len() {
        let mark = match (language, bytes[at]) {
            (Language::Go, b'%') => go_mark(text, at),
            (Language::Rust, b'{' | b'}') => rust_mark(text, at),
            _ => None,
        };
        let Some((end, mark)) = mark else {
            at += 1;
            continue;
        };
        match mark {
            Some(mark) => {
                plain(&mut parts, from..at);
                parts.push(Part::Mark(at..end, mark));
            }
            // A sign that is written twice stands for itself.
            None => plain(&mut parts, from..at + 1),
        }
        at = end;
        from = end;
    }
    plain(&mut parts, from..text.len());
    parts
}

/// A verb of Go: where it ends, and which argument it takes; none for a per cent sign.
fn go_mark(text: &str, at: usize) -> Option<(usize, Option<Which>)> {
    let rest = &text[at + 1..];
    if rest.starts_with('%') {
        return Some((at + 2, None));
    }
    let length = rest.find(|c: char| c.is_ascii_alphabetic())?;
    let which = rest[..length].split_once('[').and_then(|(_, rest)| rest.split(']').next()?.parse::<usize>().ok());
    let is_verb = rest[..length].chars().all(|c| c.is_ascii_digit() || "+-#.[]*".contains(c));
    is_verb.then(|| (at + 2 + length, Some(which.map_or(Which::Next, |index| Which::At(index.saturating_sub(1))))))
}

/// A mark of Rust between braces.
fn rust_mark(text: &str, at: usize) -> Option<(usize, Option<Which>)> {
    let rest = &text[at..];
    if rest.starts_with("{{") || rest.starts_with("}}") {
        return Some((at + 2, None));
    }
    let end = rest.starts_with('{').then(|| rest.find('}')).flatten()?;
    let name = rest[1..end].split(':').next().unwrap_or_default().trim();
    let which = match name.parse::<usize>() {
        Ok(index) => Which::At(index),
        Err(_) if name.is_empty() => Which::Next,
        Err(_) => Which::Name(name.to_owned()),
    };
    Some((at + end + 1, Some(which)))
}
