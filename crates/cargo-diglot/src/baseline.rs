//! `cargo diglot baseline`: keeps today's findings in a file, so that only new ones fail.

use std::fs;
use std::io;

use diglot::Compiled;
use diglot::baseline::{self, FILE};
use diglot::diagnostic::Diagnostic;
use diglot::source::SourceFile;

use crate::cli::{Baseline, Format};
use crate::failure::Failure;
use crate::{Outcome, check, report};

pub(crate) fn run(arguments: &Baseline) -> Result<Outcome, Failure> {
    let root = check::root(&arguments.project)?;
    let mut inputs = diglot::build::load(&root)?;
    // What was known before has no say in what is found now. Answers come later: engines are asked about what is kept.
    inputs.baseline = None;
    inputs.check_answers = false;
    let compiled = diglot::check(&inputs);
    let path = root.join(FILE);
    let text = text(&compiled);
    match &text {
        Some(text) => fs::write(&path, text).map_err(Failure::io("write diglot.baseline"))?,
        None => match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Failure::io("remove diglot.baseline")(error));
            }
            _ => {}
        },
    }
    let kept = compiled.diagnostics.iter().filter(|finding| baseline::can_keep(finding)).count();
    match &text {
        Some(_) => report::line(&format!("{FILE}: {} kept", report::counted(kept, "finding"))),
        None => report::line(&format!("nothing to keep, so there is no {FILE}")),
    }
    if let Some(text) = text {
        inputs.baseline = Some(inputs.sources.add(SourceFile::new(FILE, text)));
        let left_out = diglot::check(&inputs).left_out;
        if !left_out.is_empty() {
            let count = report::counted(left_out.len(), "statement");
            report::line(&format!("no function until they are repaired: {count} ({})", left_out.join(", ")));
        }
    }
    let others: Vec<Diagnostic> =
        compiled.diagnostics.into_iter().filter(|finding| !baseline::can_keep(finding)).collect();
    report::findings(&inputs.sources, &others, Format::Full)?;
    if report::errors(&others) == 0 {
        return Ok(Outcome::Clean);
    }
    report::line("these cannot be kept: repair them first");
    Ok(Outcome::Findings)
}

/// The file's text; none when there is nothing to keep.
fn text(compiled: &Compiled) -> Option<String> {
    let findings = compiled.diagnostics.iter().zip(&compiled.subjects);
    let keys: Vec<(&str, &str)> = findings
        .filter(|(finding, _)| baseline::can_keep(finding))
        .map(|(finding, subject)| (finding.rule, subject.as_str()))
        .collect();
    (!keys.is_empty()).then(|| baseline::text(keys.into_iter()))
}
