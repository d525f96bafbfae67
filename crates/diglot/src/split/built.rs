//! Texts that a program puts together from what only it knows.

use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::digest::seal;
use crate::rule;
use crate::source::{Embedded, FileId, Span};

/// A text of which only the running program knows the whole, told at the first part that nobody can follow.
pub(crate) fn finding(file: FileId, whole: &str, name: &str, one: &Embedded) -> Diagnostic {
    let hole = one.holes.first().unwrap_or(&one.range).clone();
    let within = hole.start.saturating_sub(one.range.start)..hole.end.saturating_sub(one.range.start);
    let code = whole.get(within).unwrap_or_default().trim_matches(['{', '}']);
    let code = code.lines().next().unwrap_or_default();
    let message = format!("{name}: `{code}` is known at run time alone, so the text was not compared");
    let finding = Diagnostic::warning(rule::BUILT_TEXT, message, Span::new(file, hole.clone()), "one part of the text");
    let called = code.split(['(', ' ', '[']).next().unwrap_or_default();
    let before = whole.get(..hole.start.saturating_sub(one.range.start)).unwrap_or_default().trim_end().to_uppercase();
    let is_table = ["FROM", "INTO", "UPDATE", "JOIN", "TABLE", "EXISTS", "REFERENCES"].iter().any(|word| {
        before.strip_suffix(word).is_some_and(|rest| rest.is_empty() || rest.ends_with(char::is_whitespace))
    });
    let finding = match (called.is_empty(), is_table) {
        (true, _) => finding,
        (_, true) => finding.help(format!(
            "say in `diglot.toml`, below `[built.texts]`, which table it is: `\"{called}\" = \"its name\"`"
        )),
        _ => finding.help(format!(
            "say under `[built]` in `diglot.toml` what it gives: `lists = [\"{called}\"]`, \
             `conditions = [\"{called}\"]`, or below `[built.texts]` `\"{called}\" = \"its text\"`"
        )),
    };
    let words = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    finding.help("or write the whole statement in one constant").sealed(seal(&words))
}

/// Conditions that are joined when the program runs, beside which the rest of the statement is compared.
pub(crate) fn conditions(file: FileId, name: &str, one: &(Range<usize>, String, String)) -> Diagnostic {
    let (range, code, called) = one;
    let message = format!("{name}: the conditions of `{code}` are known at run time alone, so they were not compared");
    Diagnostic::warning(rule::BUILT_TEXT, message, Span::new(file, range.clone()), "whatever stands here")
        .help("gather them by constants in a list of the same function, and each is compared")
        .help(format!(
            "or say in `diglot.toml`, below `[built]`, that it gives conditions: `conditions = [\"{called}\"]`"
        ))
        .sealed(seal(code))
}
