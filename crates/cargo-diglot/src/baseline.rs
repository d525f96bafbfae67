//! `cargo diglot baseline`: keeps today's findings in a file, so that only new ones fail.

use std::fs;
use std::io;

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
    let found = compiled.diagnostics.into_iter().zip(compiled.subjects);
    let (kept, others): (Vec<_>, Vec<_>) = found.partition(|(finding, _)| baseline::can_keep(finding));
    if kept.is_empty() {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Failure::io("remove diglot.baseline")(error));
            }
            _ => report::line(&format!("nothing to keep, so there is no {FILE}")),
        }
    } else {
        let text = baseline::text(kept.iter().map(|(finding, subject)| (finding.rule, subject.as_str())));
        fs::write(&path, &text).map_err(Failure::io("write diglot.baseline"))?;
        report::line(&format!("{FILE}: {} kept", report::counted(kept.len(), "finding")));
        inputs.baseline = Some(inputs.sources.add(SourceFile::new(FILE, text)));
        let left_out = diglot::check(&inputs).left_out;
        if !left_out.is_empty() {
            let count = report::counted(left_out.len(), "statement");
            report::line(&format!("no function until they are repaired: {count} ({})", left_out.join(", ")));
        }
    }
    let others: Vec<Diagnostic> = others.into_iter().map(|(finding, _)| finding).collect();
    report::findings(&inputs.sources, &others, Format::Full)?;
    if report::errors(&others) == 0 {
        return Ok(Outcome::Clean);
    }
    report::line("these cannot be kept: repair them first");
    Ok(Outcome::Findings)
}
