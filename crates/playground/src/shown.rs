//! What the page shows of a project, as JSON.

use diglot::diagnostic::Diagnostic;
use diglot::dialect::Dialect;
use diglot::evidence::{Verdict, Witness};
use diglot::render;
use diglot::source::{SourceFile, Span};
use diglot::{Compiled, Detail, Inputs, Weighed};
use diglot_tools::editor::Lines;
use serde_json::{Value, json};

/// The findings as the command line prints them, the places under which they stand, and what is known of each pair.
pub(crate) fn json(inputs: &Inputs) -> String {
    let compiled = diglot::check(inputs);
    let findings: Vec<Diagnostic> =
        compiled.diagnostics.iter().map(|finding| without_database(finding, &compiled)).collect();
    let text = |finding: &Diagnostic| render::full(&inputs.sources, finding, true);
    let marks = compiled.diagnostics.iter().flat_map(|finding| marks(inputs, finding));
    json!({
        "statements": compiled.statements.0,
        "alone": compiled.statements.1,
        "findings": findings.iter().map(text).collect::<Vec<_>>(),
        "marks": marks.collect::<Vec<_>>(),
        "pairs": compiled.weighed.iter().map(pair).collect::<Vec<_>>(),
    })
    .to_string()
}

/// A finding without the notes that tell its database: the page has tables for that.
fn without_database(finding: &Diagnostic, compiled: &Compiled) -> Diagnostic {
    let witnesses = compiled.weighed.iter().filter_map(|pair| match &pair.verdict {
        Some(Verdict::Differs(witness)) => Some(witness.notes(Detail::Short)),
        _ => None,
    });
    let told: Vec<String> = witnesses.flatten().collect();
    let mut finding = finding.clone();
    finding.notes.retain(|note| !told.contains(note));
    finding
}

/// The places of a finding in the editors.
fn marks(inputs: &Inputs, finding: &Diagnostic) -> Vec<Value> {
    let mark = |span: Span, words: &str| {
        let file = inputs.sources.get(span.file)?;
        let lines = Lines::of(&file.text);
        let at = |offset: usize| {
            let place = lines.position(offset);
            json!([place.line, place.character])
        };
        let range = span.range();
        Some(json!({
            "editor": editor(inputs, file)?,
            "from": at(range.start),
            "to": at(range.end),
            "severity": finding.severity.word(),
            "message": format!("{}\n{words}", finding.message).trim_end(),
        }))
    };
    finding.labels.iter().filter_map(|label| mark(label.span, &label.text)).collect()
}

/// The editor that holds a file.
fn editor(inputs: &Inputs, file: &SourceFile) -> Option<String> {
    let config = &inputs.config;
    Dialect::ALL.into_iter().find_map(|dialect| {
        let kinds = [("statements", &config.sql), ("schema", &config.schema)];
        let (kind, _) = kinds.into_iter().find(|(_, places)| places.stem(dialect, &file.path).is_some())?;
        Some(format!("{}-{kind}", dialect.word()))
    })
}

/// What is known of a pair.
fn pair(pair: &Weighed) -> Value {
    let (verdict, words, database) = match &pair.verdict {
        Some(Verdict::Differs(witness)) => ("differs", witness.what.clone(), Some(database(witness))),
        Some(Verdict::Same(scope)) if pair.by_law => ("same by law", scope.sentence(), None),
        Some(Verdict::Same(scope)) => ("same when run", scope.sentence(), None),
        Some(Verdict::Unknown { reason }) if pair.by_law => ("same by law", reason.clone(), None),
        Some(Verdict::Unknown { reason }) => ("unknown", reason.clone(), None),
        None if pair.by_law => ("same by law", String::new(), None),
        None => ("not run", String::new(), None),
    };
    json!({ "name": pair.name, "verdict": verdict, "words": words, "database": database })
}

/// A database on which a pair differs.
fn database(witness: &Witness) -> Value {
    let table = |grid: diglot::evidence::Grid| json!({ "name": grid.name, "columns": grid.columns, "rows": grid.rows, "more": grid.more });
    let answers = witness.headings().into_iter().zip(witness.answers(Detail::Whole));
    json!({
        "tables": witness.grids(Detail::Whole).into_iter().map(table).collect::<Vec<_>>(),
        "arguments": witness.arguments(Detail::Whole),
        "answers": answers.map(|(heading, lines)| json!({ "heading": heading, "lines": lines })).collect::<Vec<_>>(),
    })
}
