//! `cargo diglot check`: compile, print the findings, no database.

use std::env;
use std::path::{Path, PathBuf};

use diglot::Stats;

use crate::cli::{Check, Project};
use crate::failure::Failure;
use crate::{Outcome, report};

pub(crate) fn run(arguments: &Check) -> Result<Outcome, Failure> {
    let root = root(&arguments.project)?;
    let inputs = diglot::build::load(&root)?;
    let compiled = diglot::compile(&inputs);
    report::findings(&inputs.sources, &compiled.diagnostics, arguments.format)?;
    report::line(&report::summary(&compiled, &compiled.diagnostics));
    if arguments.stats {
        report::line(&stats(compiled.stats));
    }
    Ok(if compiled.has_errors() { Outcome::Findings } else { Outcome::Clean })
}

/// What was compared, and the share that is declared to differ.
fn stats(stats: Stats) -> String {
    let share = if stats.facts == 0 { 0.0 } else { 100.0 * stats.waived as f64 / stats.facts as f64 };
    format!("{} facts compared, {} declared to differ ({share:.1} %)", stats.facts, stats.waived)
}

/// The project's folder: the one named, or the nearest one upwards that looks like a project.
pub(crate) fn root(project: &Project) -> Result<PathBuf, Failure> {
    let start = match &project.root {
        Some(root) => root.clone(),
        None => env::current_dir().map_err(Failure::io("find the current folder"))?,
    };
    let found = match &project.root {
        Some(root) => is_project(root).then(|| root.clone()),
        None => start.ancestors().find(|folder| is_project(folder)).map(Path::to_path_buf),
    };
    found.ok_or(Failure::NoProject { root: start })
}

fn is_project(folder: &Path) -> bool {
    folder.join("diglot.toml").is_file() || folder.join("sql").is_dir()
}
