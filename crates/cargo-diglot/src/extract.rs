//! `cargo diglot extract`: which statements are read out of Go and Rust.

use std::fmt::Write as _;

use crate::cli::Extract;
use crate::failure::Failure;
use crate::{Outcome, check, report};

pub(crate) fn run(arguments: &Extract) -> Result<Outcome, Failure> {
    let root = check::root(&arguments.project)?;
    let inputs = report::from_here(&root, diglot::build::load(&root)?);
    let (mut text, mut files, mut read, mut built) = (String::new(), 0, 0, 0);
    for (_, file) in inputs.sources.iter().filter(|(_, file)| !file.embedded.is_empty()) {
        files += 1;
        for one in &file.embedded {
            let (line, _) = file.line_column(one.range.start);
            let sql = file.text[one.range.clone()].trim();
            let note = if one.holes.is_empty() { "" } else { " (put together at run time: not compared)" };
            *if one.holes.is_empty() { &mut read } else { &mut built } += 1;
            // Writing to a String cannot fail.
            let _ = writeln!(text, "-- {}:{line}: {}{note}\n{sql}\n", file.path, one.name);
        }
    }
    report::is_over(report::out(&text))?;
    let counted = format!("{} in {}", report::counted(read, "statement"), report::counted(files, "file"));
    report::line(&match built {
        0 => counted,
        built => format!("{counted}, and {built} that are put together at run time"),
    });
    Ok(Outcome::Clean)
}
