//! `cargo diglot baseline`: keeps today's findings in a file, so that only new ones fail.

use std::fs;
use std::io;

use diglot::BaselineDraft;
use diglot::baseline::FILE;

use crate::cli::{Baseline, Format};
use crate::failure::Failure;
use crate::{Outcome, check, report};

pub(crate) fn run(arguments: &Baseline) -> Result<Outcome, Failure> {
    let root = check::root(&arguments.project)?;
    let mut inputs = diglot::build::load(&root)?;
    // Answers come later: engines are asked about what is kept.
    inputs.check_answers = false;
    let BaselineDraft { text, compiled } = diglot::draft_baseline(&mut inputs);
    let path = root.join(FILE);
    match text {
        None => match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Failure::io("remove diglot.baseline")(error));
            }
            _ => report::line(&format!("nothing to keep, so there is no {FILE}")),
        },
        Some(text) => {
            fs::write(&path, &text).map_err(Failure::io("write diglot.baseline"))?;
            report::line(&format!("{FILE}: {} kept", report::counted(compiled.known.len(), "finding")));
            let left_out = &compiled.left_out;
            if !left_out.is_empty() && inputs.config.generate.enabled {
                let count = report::counted(left_out.len(), "statement");
                report::line(&format!("no function until they are repaired: {count} ({})", left_out.join(", ")));
            }
        }
    }
    let inputs = report::from_here(&root, inputs);
    report::findings(&inputs.sources, &compiled.diagnostics, Format::Full)?;
    if !compiled.has_errors() {
        let generate = &inputs.config.generate;
        if generate.enabled && generate.queries.needs_answers() && inputs.answers.is_none() {
            report::line("next: `cargo diglot prepare` asks both engines about the statements");
        }
        return Ok(Outcome::Clean);
    }
    report::line("these cannot be kept: repair them first");
    Ok(Outcome::Findings)
}
