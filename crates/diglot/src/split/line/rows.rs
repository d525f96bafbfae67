//! `-- rows: given(id uuid key, note text null)`: what each row of a list has.

use super::{Comment, Wrong, foreign_type};
use crate::page::{AnnotationKind, ORDINALITY, RowField};
use crate::types::{Base, Type};

const SHAPE: &str = "write `-- rows: NAME(FIELD TYPE, FIELD TYPE null, FIELD TYPE key)`";

const TYPES: &str = "bool i16 i32 i64 numeric f64 text bytes uuid json timestamp datetime date time";

/// Whether what follows the word is no prose: a colon, a name, a bracket.
pub(super) fn is_meant(rest: &str) -> bool {
    let named = rest.strip_prefix(':').and_then(|rest| rest.split_once('('));
    named.is_some_and(|(name, _)| is_name(name.trim()) || name.trim().is_empty())
}

/// Reads the annotation behind its word.
pub(super) fn read(comment: Comment<'_>, rest: &str) -> Result<AnnotationKind, Wrong> {
    let said = rest.strip_prefix(':').unwrap_or(rest);
    let Some((name, fields)) = said.split_once('(').and_then(|(name, rest)| Some((name, rest.split_once(')')?))) else {
        return Err(Wrong::new("the parenthesis of `rows` is not closed", "no `)` in this line", SHAPE));
    };
    let (name, (fields, after)) = (name.trim(), fields);
    if !is_name(name) {
        return Err(Wrong::new("`rows` has no name", "by which the statement reads them", SHAPE));
    }
    if !after.trim().is_empty() {
        let wrong = Wrong::new("something follows the fields of `rows`", "not understood", SHAPE);
        return Err(wrong.at(comment.span_of(after.trim())));
    }
    if ["params", "row"].contains(&name) {
        let message = format!("`{name}` cannot be the name of rows");
        let help = "give them another name, such as `given`: the structs that are generated have this one";
        return Err(Wrong::new(message, "taken", help).at(comment.span_of(name)));
    }
    let mut read: Vec<RowField> = Vec::new();
    for field in fields.split(',').map(str::trim) {
        let field_read = self::field(comment, field)?;
        if read.iter().any(|known| known.name == field_read.name) {
            let message = format!("two fields of `{name}` are called `{}`", field_read.name);
            return Err(Wrong::new(message, "declared again", "keep one of them").at(comment.span_of(field)));
        }
        read.push(field_read);
    }
    Ok(AnnotationKind::Rows { name: name.to_owned(), fields: read })
}

fn field(comment: Comment<'_>, field: &str) -> Result<RowField, Wrong> {
    let at = |wrong: Wrong| if field.is_empty() { wrong } else { wrong.at(comment.span_of(field)) };
    let words: Vec<&str> = field.split_whitespace().collect();
    let (name, ty, nullable, key) = match words[..] {
        [name, ty] => (name, ty, false, false),
        [name, ty, "null"] => (name, ty, true, false),
        [name, ty, "key"] => (name, ty, false, true),
        _ => return Err(at(Wrong::new("a field of `rows` is a name and a type", "not a name and a type", SHAPE))),
    };
    if !is_name(name) || name == ORDINALITY {
        let message = format!("`{name}` is not the name of a field");
        let help = match name == ORDINALITY {
            true => "that column is there by itself: it numbers the rows from 1".to_owned(),
            false => "names are in lower case, of letters, digits and `_`".to_owned(),
        };
        return Err(Wrong::new(message, "not a name", help).at(comment.span_of(name)));
    }
    let base = Base::from_word(ty).filter(|base| !base.is_list());
    let Some(base) = base else {
        let help = match foreign_type(&ty.to_lowercase()).filter(|word| !word.ends_with("[]")) {
            Some(word) => format!("write `{name} {word}`"),
            None if ty.ends_with("[]") => "a row holds no lists: give it a `json` document with an array".to_owned(),
            None => format!("the types are: {TYPES}"),
        };
        return Err(Wrong::new(format!("`{ty}` is not a type of a field"), "not a type", help).at(comment.span_of(ty)));
    };
    if key && matches!(base, Base::Float64 | Base::Json | Base::Numeric) {
        let message = format!("a field of type `{ty}` is no part of a key");
        let help = "a key is made of what is equal in one way only: whole numbers, texts, ids, bytes, flags, times";
        return Err(Wrong::new(message, "not a key", help).at(comment.span_of(ty)));
    }
    Ok(RowField { name: name.to_owned(), ty: Type { base, nullable }, key })
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_part)
}
