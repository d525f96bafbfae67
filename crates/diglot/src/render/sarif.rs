//! SARIF 2.1.0, as code scanning services and editors read it: one document with the rules and all findings.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::verdicts::{Ran, scope};
use super::{main_label, range};
use crate::diagnostic::{Diagnostic, Suggestion};
use crate::fix::written;
use crate::rules;
use crate::source::{Sources, Span};

/// One document for all findings.
pub fn sarif(sources: &Sources, diagnostics: &[Diagnostic]) -> String {
    document(sources, diagnostics, &[])
}

/// The same with a result for each pair that is the same when run: a check that passed.
pub(super) fn document(sources: &Sources, diagnostics: &[Diagnostic], ran: &[Ran<'_>]) -> String {
    let named: BTreeSet<&str> = diagnostics.iter().map(|diagnostic| diagnostic.rule).collect();
    let names: Vec<&str> = named.into_iter().collect();
    let results = diagnostics.iter().map(|diagnostic| result(sources, diagnostic, &names));
    let results: Vec<Value> = results.chain(ran.iter().filter_map(|pair| passed(sources, pair))).collect();
    let driver = json!({
        "name": "diglot",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": names.iter().map(|name| rule(name)).collect::<Vec<Value>>(),
    });
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "columnKind": "unicodeCodePoints", "results": results }],
    });
    // Strings and numbers always serialise; indented, because people read it when a service refuses it.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn rule(name: &str) -> Value {
    match rules::find(name) {
        Some(rule) => json!({
            "id": name,
            "shortDescription": { "text": rule.summary },
            "help": { "text": rule.doc.trim(), "markdown": rule.doc.trim() },
        }),
        None => json!({ "id": name }),
    }
}

fn result(sources: &Sources, diagnostic: &Diagnostic, names: &[&str]) -> Value {
    let mut text = diagnostic.message.clone();
    for (word, lines) in [("note", &diagnostic.notes), ("help", &diagnostic.help)] {
        lines.iter().for_each(|line| text.push_str(&format!("\n{word}: {line}")));
    }
    let main = main_label(diagnostic);
    let place = |span: Span, text: &str| -> Option<Value> {
        let mut place = json!({ "physicalLocation": physical(sources, span)? });
        if !text.is_empty() {
            place["message"] = json!({ "text": text });
        }
        Some(place)
    };
    let others = diagnostic.labels.iter().filter(|label| main.is_none_or(|main| !std::ptr::eq(main, *label)));
    let fixes = diagnostic.suggestions.iter().map(|suggestion| fix(sources, suggestion));
    json!({
        "ruleId": diagnostic.rule,
        "ruleIndex": names.iter().position(|name| *name == diagnostic.rule),
        "level": diagnostic.severity.word(),
        "message": { "text": text },
        "locations": main.and_then(|label| place(label.span, &label.text)).into_iter().collect::<Vec<Value>>(),
        "relatedLocations": others.filter_map(|label| place(label.span, &label.text)).collect::<Vec<Value>>(),
        "fixes": fixes.collect::<Vec<Value>>(),
    })
}

/// A pair that is the same when run.
fn passed(sources: &Sources, pair: &Ran<'_>) -> Option<Value> {
    let scope = scope(pair)?;
    Some(json!({
        "ruleId": "same-when-run",
        "kind": "pass",
        "level": "none",
        "message": { "text": format!("{}: {}", pair.name, scope.sentence()) },
        "locations": physical(sources, pair.place).map(|place| json!({ "physicalLocation": place })).into_iter().collect::<Vec<Value>>(),
        "properties": { "noticed": scope.noticed, "changes": scope.changes },
    }))
}

fn physical(sources: &Sources, span: Span) -> Option<Value> {
    let file = sources.get(span.file)?;
    Some(json!({ "artifactLocation": { "uri": uri(&file.path) }, "region": region(sources, span)? }))
}

fn region(sources: &Sources, span: Span) -> Option<Value> {
    let file = sources.get(span.file)?;
    let bytes = range(file, span);
    let ((line, column), (end_line, end_column)) = (file.line_column(bytes.start), file.line_column(bytes.end));
    Some(json!({ "startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column }))
}

fn fix(sources: &Sources, suggestion: &Suggestion) -> Value {
    let changes = suggestion.edits.iter().filter_map(|edit| {
        let file = sources.get(edit.span.file)?;
        Some(json!({
            "artifactLocation": { "uri": uri(&file.path) },
            "replacements": [{
                "deletedRegion": region(sources, edit.span)?,
                "insertedContent": { "text": written(sources, edit).text },
            }],
        }))
    });
    json!({ "description": { "text": suggestion.message }, "artifactChanges": changes.collect::<Vec<Value>>() })
}

/// A path as the path of a URI.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let one = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(one).collect()
}
