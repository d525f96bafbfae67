//! What stands in brackets behind the name of a shared part: what it takes (`:event`, `fence`), and what a statement gives
//! it (`event = 'acquired'`, `fence = held`).

use super::{Comment, Wrong, is_identifier};
use crate::page::{Argument, PartParam};

const TAKES: &str = "write `-- part: NAME(:value, name)`: a value with a colon, the name of a CTE or table without one";
const GIVES: &str = "write `-- use: NAME(value = 'text', name = cte)`";

/// `NAME` or `NAME(…)` into the name and what stands in the brackets; none of something else.
pub(super) fn called(text: &str) -> Option<(&str, Option<&str>)> {
    let text = text.trim();
    match text.split_once('(') {
        None => is_identifier(text).then_some((text, None)),
        Some((name, rest)) => {
            let name = name.trim();
            is_identifier(name).then(|| (name, Some(rest.strip_suffix(')').unwrap_or(rest))))
        }
    }
}

/// What a shared part takes.
pub(super) fn taken(comment: Comment<'_>, inside: &str) -> Result<Vec<PartParam>, Wrong> {
    let mut params: Vec<PartParam> = Vec::new();
    for word in items(inside) {
        let at = |wrong: Wrong| if word.is_empty() { wrong } else { wrong.at(comment.span_of(word)) };
        let name = word.strip_prefix(':').unwrap_or(word);
        if !is_identifier(name) {
            return Err(at(Wrong::new(format!("`{word}` is not what a shared part takes"), "not a name", TAKES)));
        }
        if params.iter().any(|known| known.name == name) {
            return Err(at(Wrong::new(format!("a shared part takes `{name}` twice"), "again", "keep one of them")));
        }
        let is_value = word.starts_with(':');
        params.push(PartParam { name: name.to_owned(), is_value, span: comment.span_of(word) });
    }
    Ok(params)
}

/// What a statement gives to a shared part.
pub(super) fn given(comment: Comment<'_>, inside: &str) -> Result<Vec<Argument>, Wrong> {
    let mut arguments: Vec<Argument> = Vec::new();
    for word in items(inside) {
        let at = |wrong: Wrong| if word.is_empty() { wrong } else { wrong.at(comment.span_of(word)) };
        let Some((name, value)) = word.split_once('=').map(|(name, value)| (name.trim(), value.trim())) else {
            return Err(at(Wrong::new(format!("`{word}` is not an argument"), "no `=`", GIVES)));
        };
        let name = name.strip_prefix(':').unwrap_or(name);
        if !is_identifier(name) || value.is_empty() {
            return Err(at(Wrong::new(format!("`{word}` is not an argument"), "not understood", GIVES)));
        }
        if arguments.iter().any(|known| known.name == name) {
            let message = format!("the argument `{name}` is given twice");
            return Err(at(Wrong::new(message, "again", "keep one of them")));
        }
        let is_name = is_identifier(value) && !is_word_value(value);
        if !is_name && !is_value(value) {
            let message = format!("`{value}` cannot be an argument");
            let help = "give a literal, a parameter, a column as `cte.column`, or the name of a CTE or table";
            return Err(Wrong::new(message, "more than one value", help).at(comment.span_of(value)));
        }
        let (name, text) = (name.to_owned(), value.to_owned());
        arguments.push(Argument { name, text, is_value: !is_name, span: comment.span_of(value) });
    }
    Ok(arguments)
}

/// What stands between commas that are in no text literal.
fn items(inside: &str) -> Vec<&str> {
    let mut is_text = false;
    inside
        .split(|c: char| {
            is_text ^= c == '\'';
            c == ',' && !is_text
        })
        .map(str::trim)
        .collect()
}

fn is_word_value(text: &str) -> bool {
    ["null", "true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// A literal, a parameter or a column of a CTE or table.
fn is_value(text: &str) -> bool {
    let inner = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    let is_text = inner.is_some_and(|inner| !inner.replace("''", "").contains('\''));
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit()) && digits.parse::<f64>().is_ok();
    let is_param = text.strip_prefix([':', '@']).is_some_and(is_identifier);
    let is_column = text.split_once('.').is_some_and(|(source, column)| is_identifier(source) && is_identifier(column));
    is_text || is_number || is_word_value(text) || is_param || is_column
}
