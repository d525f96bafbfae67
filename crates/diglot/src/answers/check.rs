//! Whether recorded answers still fit, and what they say against inference.

use std::collections::BTreeMap;

use super::{Index, Record, digest, key, schema_digests};
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::emitted::{EmittedText, Holds, TextParam};
use crate::infer::Signature;
use crate::infer::columns::{converts, unfit};
use crate::project::Inputs;
use crate::rule;
use crate::source::Span;
use crate::types::Base;

/// Fills in what inference does not know and the engine does: the type of a declared column on Postgres. One that
/// cannot become what is declared is a finding; it comes with the name of its statement.
pub(crate) fn complete(
    index: &Index,
    texts: &mut [EmittedText],
    signatures: &mut [Signature],
) -> Vec<(String, Diagnostic)> {
    let mut found = Vec::new();
    let places: BTreeMap<String, usize> =
        signatures.iter().enumerate().map(|(at, signature)| (signature.name.clone(), at)).collect();
    let lacks = |text: &&mut EmittedText| text.dialect == Dialect::Pg && text.columns.iter().any(|c| c.base.is_none());
    for text in texts.iter_mut().filter(lacks) {
        let Some(record) = recorded(index, text) else { continue };
        let signature = places.get(&text.name).and_then(|at| signatures.get_mut(*at));
        let mut shown = signature.map(|signature| signature.columns.iter_mut().collect::<Vec<_>>()).unwrap_or_default();
        for (i, (column, recorded)) in text.columns.iter_mut().zip(&record.columns).enumerate() {
            if column.base.is_none() {
                column.base = Base::from_word(&recorded.ty);
                let Some((given, shown)) = column.base.as_ref().zip(shown.get_mut(i)) else { continue };
                if converts(text.dialect, given, &shown.ty.base) {
                    shown.pg = Some(given.clone());
                    continue;
                }
                let finding = unfit(&text.name, text.dialect, (&column.name, text.place), given, &shown.ty.base);
                let told = (text.name.clone(), finding);
                // Each variant of a statement has its own answer.
                if !found.contains(&told) {
                    found.push(told);
                }
            }
        }
    }
    found
}

/// What is recorded of a text as it is now.
pub(crate) fn recorded<'i>(index: &'i Index, text: &EmittedText) -> Option<&'i Record> {
    index.texts.get(&key(text)).filter(|record| fits(record, text))
}

fn fits(record: &Record, text: &EmittedText) -> bool {
    record.hash == digest(text.sql.as_bytes())
}

/// Compares the recorded answers with today's texts and schema.
pub(crate) fn check(inputs: &Inputs, index: Option<&Index>, texts: &[EmittedText]) -> Vec<Diagnostic> {
    let Some(first) = texts.first() else { return Vec::new() };
    let somewhere = first.place;
    let Some(index) = index else {
        let message = "the engines were never asked about these statements, or by another version of diglot";
        let finding = Diagnostic::error(rule::STALE_ANSWERS, message, somewhere, "the first of them");
        return vec![finding.help(PREPARE)];
    };
    let digests = schema_digests(inputs);
    let changed: Vec<&str> = Dialect::ALL
        .into_iter()
        .filter(|dialect| index.schema.get(dialect.word()) != digests.get(dialect.word()))
        .map(Dialect::title)
        .collect();
    let stale = |text: &&EmittedText| recorded(index, text).is_none();
    let stale: Vec<&EmittedText> = texts.iter().flat_map(EmittedText::all).filter(stale).collect();
    if !changed.is_empty() || !stale.is_empty() {
        let span = stale.first().map_or(somewhere, |text| text.place);
        return vec![stale_answers(&changed, &stale, span)];
    }
    let mut found = Vec::new();
    for text in texts.iter().flat_map(EmittedText::all) {
        if let Some(record) = index.texts.get(&key(text)) {
            differs(text, record, text.place, &mut found);
        }
    }
    found
}

const PREPARE: &str = "run `cargo diglot prepare`";

fn stale_answers(changed: &[&str], stale: &[&EmittedText], span: Span) -> Diagnostic {
    let label = if stale.is_empty() { "the first of the statements" } else { "changed since" };
    let message = "the recorded answers are out of date".to_owned();
    let mut finding = Diagnostic::error(rule::STALE_ANSWERS, message, span, label).help(PREPARE);
    if !changed.is_empty() {
        finding =
            finding.note(format!("the schema of {} has changed since the engines were asked", changed.join(" and ")));
    }
    const SHOWN: usize = 20;
    if !stale.is_empty() {
        let mut names: Vec<String> = stale.iter().take(SHOWN).map(|text| key(text)).collect();
        if stale.len() > SHOWN {
            names.push(format!("and {} more", stale.len() - SHOWN));
        }
        finding = finding.note(format!("not asked as they are now: {}", names.join(", ")));
    }
    finding
}

/// An engine that sees a type otherwise than inference did.
fn differs(text: &EmittedText, record: &Record, span: Span, found: &mut Vec<Diagnostic>) {
    let title = text.dialect.title();
    let name = &text.name;
    if record.columns.len() != text.columns.len() {
        let (engine, here) = (record.columns.len(), text.columns.len());
        let message = format!("{name}: {title} gives {engine} columns where {here} were understood");
        found.push(Diagnostic::error(rule::ANSWER_DIFFERS, message, span, "this statement"));
    }
    // The text itself says the types of arrays, with a cast.
    let single = |(param, _): &(&TextParam, &String)| param.holds == Holds::Value;
    for (param, given) in text.params.iter().zip(&record.params).filter(single) {
        let word = param.ty.base.word();
        if text.dialect == Dialect::Pg && given != word {
            let message = format!("{name}: {title} takes `{given}` for `:{0}`, the API gives `{word}`", param.name);
            found.push(
                Diagnostic::error(rule::ANSWER_DIFFERS, message, span, "this statement")
                    .help(format!("declare what the engine takes: `-- param: {} {given}`", param.name))
                    .help(format!("or write a CAST around `:{}` to the API's type", param.name)),
            );
        }
    }
    for (column, given) in text.columns.iter().zip(&record.columns) {
        let word = column.base.as_ref().map_or("?", Base::word);
        let known = Base::from_word(&given.ty).is_some();
        if text.dialect == Dialect::Pg && given.ty != word {
            let message =
                format!("{name}: {title} gives `{}` for `{}`, `{word}` was understood", given.ty, column.name);
            let finding = Diagnostic::error(rule::ANSWER_DIFFERS, message, span, "this statement");
            let help = if known {
                "write a CAST to the type that is meant"
            } else {
                "write a CAST to a type that has a Rust type: text holds the value of any, `to_jsonb(…)` that of an array"
            };
            found.push(finding.help(help));
        }
        if given.nullable == Some(true) && !column.nullable && !column.declared {
            let message = format!("{name}: {title} says that `{}` may be NULL, which was not understood", column.name);
            found.push(Diagnostic::error(rule::ANSWER_DIFFERS, message, span, "this statement").help(format!(
                "declare it: `-- column: {} {word} null`, or without `null` if it never is",
                column.name
            )));
        }
    }
}
