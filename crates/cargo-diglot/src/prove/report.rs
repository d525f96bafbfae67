//! How a difference is told: what both engines gave, on which data, and the file that keeps the case.

use diglot::diagnostic::Diagnostic;
use diglot::rules;
use diglot_tools::prove::{Case, Difference, Row, Subject};

use super::{Tried, kept};

/// How many rows of an answer are shown.
const SHOWN: usize = 6;
/// The longest row that stands under the carets.
const LABEL: usize = 70;

/// What is to be said about a statement.
pub(super) fn findings(subject: &Subject, tried: &Tried) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> =
        tried.found.iter().filter_map(|(case, difference)| differs(subject, case, difference)).collect();
    if !tried.found.is_empty() {
        return findings;
    }
    for declared in &subject.declared {
        if tried.seen.contains(declared.column.as_deref().unwrap_or_default()) {
            continue;
        }
        let item = declared.column.as_ref().map(|column| format!(".{column}")).unwrap_or_default();
        let message = format!("{}: `-- diverges(results{item})` names no difference", subject.name);
        let label = format!("the answers agree in all of {} cases", tried.cases);
        findings.push(
            Diagnostic::error(rules::UNUSED_DIVERGENCE, message, declared.span, label)
                .help("remove the declaration: the pages agree without it"),
        );
    }
    findings
}

fn differs(subject: &Subject, case: &Case, difference: &Difference) -> Option<Diagnostic> {
    let [sqlite, pg] = subject.places.as_slice() else { return None };
    let first = |lines: &[String]| match lines {
        [one] if one.chars().count() <= LABEL => one.clone(),
        lines => crate::report::counted(lines.len(), "row"),
    };
    let message = format!("{}: {}", subject.name, difference.what);
    let mut notes = vec![listed("SQLite", &difference.sqlite), listed("Postgres", &difference.pg)];
    if difference.common > 0 {
        notes.push(format!("beside {} that both give", crate::report::counted(difference.common, "row")));
    }
    notes.extend(
        case.rows.iter().flat_map(|(table, rows)| rows.iter().map(move |row| format!("{table}: {}", words(row)))),
    );
    notes.push(match case.args.is_empty() {
        true => "without arguments".to_owned(),
        false => format!("with {}", words(&case.args)),
    });
    let waiver = match difference.columns.first() {
        Some(column) if difference.columns.len() == 1 => format!("results.{column}"),
        _ => "results".to_owned(),
    };
    let mut finding =
        Diagnostic::error(rules::RESULTS_DIFFER, message, *sqlite, format!("SQLite: {}", first(&difference.sqlite)))
            .and(*pg, format!("Postgres: {}", first(&difference.pg)));
    finding.notes.extend(notes);
    let file = format!("{}/{}.toml", kept::FOLDER, subject.name);
    Some(
        finding
            .help("make both pages answer the same")
            .help(format!("or, if the difference is meant: `-- diverges({waiver}): <why the answers may differ>`"))
            .help(format!("to try this case in every run, keep it as `{file}`:\n{}", case.to_toml(&subject.name))),
    )
}

fn listed(engine: &str, lines: &[String]) -> String {
    let mut text = format!("{engine} gives: {}", lines.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n  "));
    if lines.len() > SHOWN {
        text.push_str(&format!("\n  and {} more", lines.len() - SHOWN));
    }
    text
}

fn words(row: &Row) -> String {
    row.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}
