//! What a statement gives to the shared parts that it uses, at the places where they take it.

use super::lexer::{self, Kind, Token};
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::page::{Argument, Bound, PartParam, SharedPart, Use};
use crate::rule;
use crate::source::{Sources, Span};

/// The arguments of a use, each under the name of what takes it. What the part around it was given is known as `around`.
pub(super) fn arguments(
    (owner, used): (&str, &Use),
    part: &SharedPart,
    around: &[Argument],
    found: &mut Vec<Diagnostic>,
) -> Vec<Argument> {
    let mut tell = |what: String, place: Span, label: &str, help: String| {
        let finding = Diagnostic::error(rule::BAD_PRELUDE, format!("{owner}: {what}"), place, label.to_owned());
        found.push(finding.context(part.mark, "the shared part").help(help));
    };
    for argument in &used.arguments {
        match part.takes.iter().find(|param| param.name == argument.name) {
            None => {
                let names: Vec<String> = part.takes.iter().map(|param| format!("`{}`", param.name)).collect();
                let help = match names.is_empty() {
                    true => "it takes nothing: write its name alone".to_owned(),
                    false => format!("it takes {}", names.join(", ")),
                };
                tell(format!("`{}` takes no `{}`", part.name, argument.name), argument.span, "not known", help);
            }
            Some(param) if param.is_value != argument.is_value => {
                let (label, help) = match param.is_value {
                    true => ("a name", "give a literal, a parameter, or a column as `cte.column`".to_owned()),
                    false => ("a value", "give the name of a CTE or table".to_owned()),
                };
                let wanted = if param.is_value { "a value" } else { "a name" };
                tell(format!("`{}` takes {wanted} as `{}`", part.name, param.name), argument.span, label, help);
            }
            Some(_) => {}
        }
    }
    let mut arguments = Vec::new();
    for param in &part.takes {
        match used.arguments.iter().find(|argument| argument.name == param.name) {
            Some(argument) => arguments.push(Argument { name: param.name.clone(), ..outer(argument, around) }),
            None => {
                let example = if param.is_value { "'…'" } else { "…" };
                let help = format!("write `-- use: {}({} = {example})`", part.name, param.name);
                tell(
                    format!("`{}` is not given `{}`", part.name, param.name),
                    used.span,
                    "an argument is missing",
                    help,
                );
            }
        }
    }
    arguments
}

/// What an argument stands for where it is what the part around it takes.
fn outer(argument: &Argument, around: &[Argument]) -> Argument {
    let is_meant = |known: &&Argument| match known.is_value {
        true => argument.text.strip_prefix(':') == Some(known.name.as_str()),
        false => argument.text == known.name,
    };
    around.iter().find(is_meant).unwrap_or(argument).clone()
}

/// The places of a text at which arguments stand.
pub(super) fn places(sources: &Sources, dialect: Dialect, text: Span, arguments: &[Argument]) -> Vec<Bound> {
    let taken = arguments.iter().map(|argument| (argument.name.as_str(), argument.is_value)).collect::<Vec<_>>();
    let found = taking(sources.text(text), dialect, &taken).into_iter();
    let place = |start: usize, end: usize| Span::new(text.file, text.start as usize + start..text.start as usize + end);
    found.map(|(at, start, end)| Bound { place: place(start, end), argument: arguments[at].clone() }).collect()
}

/// What a shared part takes and none of its texts has.
pub(super) fn unused<'p>(sources: &Sources, dialect: Dialect, part: &'p SharedPart) -> Vec<&'p PartParam> {
    let taken: Vec<_> = part.takes.iter().map(|param| (param.name.as_str(), param.is_value)).collect();
    let has = |at: usize| {
        let in_text = taking(sources.text(part.prelude.span), dialect, &taken).iter().any(|found| found.0 == at);
        let (name, is_value) = taken[at];
        let hands_on = |given: &Argument| match is_value {
            true => given.text.strip_prefix(':') == Some(name),
            false => given.text == name,
        };
        in_text || part.uses.iter().flat_map(|used| &used.arguments).any(hands_on)
    };
    part.takes.iter().enumerate().filter(|(at, _)| !has(*at)).map(|(_, param)| param).collect()
}

/// Which of what is taken stands where in a text: `:event`, or the bare word of a name.
fn taking(text: &str, dialect: Dialect, taken: &[(&str, bool)]) -> Vec<(usize, usize, usize)> {
    let tokens: Vec<Token> = lexer::tokens(text, dialect).into_iter().filter(|token| !token.is_comment()).collect();
    let is = |at: usize, symbol: &str| tokens.get(at).is_some_and(|token| &text[token.start..token.end] == symbol);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word) {
        let word = &text[token.start..token.end];
        let marked = at.checked_sub(1).filter(|before| is(*before, ":") && tokens[*before].end == token.start);
        let is_cast = marked.and_then(|mark| mark.checked_sub(1)).is_some_and(|before| is(before, ":"));
        let is_member = at.checked_sub(1).is_some_and(|before| is(before, "."));
        let wanted = taken.iter().position(|(name, is_value)| match (is_value, marked) {
            (true, Some(_)) => *name == word && !is_cast,
            (false, None) => name.eq_ignore_ascii_case(word) && !is_member,
            _ => false,
        });
        if let Some(wanted) = wanted {
            let start = marked.filter(|_| taken[wanted].1).map_or(token.start, |mark| tokens[mark].start);
            found.push((wanted, start, token.end));
        }
    }
    found
}

/// A text with its arguments in place.
pub(super) fn substituted(sources: &Sources, text: Span, bound: &[Bound]) -> String {
    let mut here: Vec<&Bound> = bound.iter().filter(|bound| text.contains(bound.place)).collect();
    here.sort_by_key(|bound| bound.place.start);
    let (all, base) = (sources.text(text), text.start as usize);
    let (mut written, mut from) = (String::new(), 0);
    for bound in here {
        written.push_str(all.get(from..bound.place.start as usize - base).unwrap_or_default());
        written.push_str(&bound.argument.text);
        from = bound.place.end as usize - base;
    }
    written + all.get(from..).unwrap_or_default()
}
