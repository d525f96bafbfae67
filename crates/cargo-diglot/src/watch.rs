//! `cargo diglot check --watch`: checks again whenever a file of the project changes.
//!
//! Editors start it with `--format json` and read its lines. Files are looked at a few times a second, which needs
//! nothing of the system and works on every file system.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use diglot::Inputs;

use crate::cli::Format;
use crate::failure::Failure;
use crate::{Outcome, report};

/// How long it rests between two looks.
const REST: Duration = Duration::from_millis(250);

/// Files that a project has beside those that were read.
const OTHERS: [&str; 3] = ["diglot.toml", ".sqlx/diglot.json", ".sqlx/evidence.json"];

/// Checks until nobody reads any more.
pub(crate) fn run(root: &Path, format: Format) -> Result<Outcome, Failure> {
    loop {
        let paths = watched(&diglot::build::load(root)?);
        // Looked at before it is read: what changes meanwhile is seen in the next round.
        let seen = look(root, &paths);
        let inputs = diglot::build::load(root)?;
        let compiled = diglot::check(&inputs);
        report::findings(&inputs.sources, &compiled.diagnostics, format)?;
        let errors = report::errors(&compiled.diagnostics);
        let warnings = compiled.diagnostics.len() - errors;
        if format == Format::Json {
            let line = format!("{{\"checked\":{{\"errors\":{errors},\"warnings\":{warnings}}}}}\n");
            if report::is_over(report::out(&line))? {
                return Ok(Outcome::Clean);
            }
        }
        report::line(&report::summary(&compiled, &compiled.diagnostics));
        while look(root, &paths) == seen {
            thread::sleep(REST);
        }
    }
}

/// The paths that tell when something changed: files, and folders for files that come and go.
fn watched(inputs: &Inputs) -> BTreeSet<PathBuf> {
    let files = inputs.sources.iter().map(|(_, file)| PathBuf::from(&file.path)).chain(OTHERS.map(PathBuf::from));
    files.flat_map(|file| file.ancestors().map(Path::to_path_buf).collect::<Vec<_>>()).collect()
}

/// The time of the last change of each and its length; nothing of one that is not there.
fn look(root: &Path, paths: &BTreeSet<PathBuf>) -> BTreeMap<PathBuf, Option<(SystemTime, u64)>> {
    let state = |path: &PathBuf| {
        let data = fs::metadata(root.join(path)).ok()?;
        Some((data.modified().ok()?, data.len()))
    };
    paths.iter().map(|path| (path.clone(), state(path))).collect()
}
