//! `cargo diglot mutate`: what a change of one page alone does to the findings.

use std::fmt::Write as _;
use std::io::Write as _;

use diglot::source::Sources;
use diglot_tools::mutate::{Against, Report, Sample, run as mutate};

use crate::cli::Mutate;
use crate::failure::Failure;
use crate::{Outcome, check};

pub(crate) fn run(arguments: &Mutate) -> Result<Outcome, Failure> {
    let root = check::root(&arguments.project)?;
    let inputs = diglot::build::load(&root)?;
    let against = if arguments.baseline { Against::Baseline } else { Against::Nothing };
    let report = mutate(&inputs, arguments.most.map_or(Sample::All, Sample::Most), against);
    let text = table(&inputs.sources, &report);
    anstream::stdout().write_all(text.as_bytes()).map_err(Failure::io("print"))?;
    Ok(Outcome::Clean)
}

/// The survivors, then a line for each kind of change.
fn table(sources: &Sources, report: &Report) -> String {
    let mut text = String::new();
    for survivor in &report.survivors {
        let file = sources.file(survivor.mutation.span.file);
        let (line, column) = file.line_column(survivor.mutation.span.start as usize);
        let short =
            |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(60).collect::<String>();
        let (from, to) = (short(&survivor.original), short(&survivor.mutation.replacement));
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{}:{line}:{column}: {}: {} not noticed: `{from}` as `{to}`",
            file.path, survivor.statement, survivor.mutation.kind
        );
    }
    let _ = writeln!(text, "{:16} {:>6} {:>6} {:>7}", "change", "made", "caught", "share");
    let rows = report.kinds.iter().map(|(kind, (made, caught))| (*kind, *made, *caught));
    for (kind, made, caught) in rows.chain([("all", report.made(), report.caught())]) {
        let share = if made == 0 { 100.0 } else { 100.0 * caught as f64 / made as f64 };
        let _ = writeln!(text, "{kind:16} {made:>6} {caught:>6} {share:>6.1}%");
    }
    text
}
