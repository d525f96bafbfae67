//! `cargo diglot new NOUN VERB`: another pair of statements, at the end of both pages; `new migration`: the next step of both
//! databases.

mod migration;
mod numbering;
mod rebuild;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use diglot_tools::draft::{self, Draft};

use crate::cli::{New, NewWhat};
use crate::failure::Failure;
use crate::{Outcome, check, report};

pub(crate) fn run(arguments: &New) -> Result<Outcome, Failure> {
    if let Some(NewWhat::Migration(arguments)) = &arguments.what {
        return migration::run(arguments);
    }
    let root = check::root(&arguments.project)?;
    let inputs = diglot::build::load(&root)?;
    let word = |word: &Option<String>| word.clone().unwrap_or_default();
    let drafts = draft::pair(&inputs, &word(&arguments.noun), &word(&arguments.verb), arguments.table.as_deref())?;
    let is_common = drafts.sqlite.path == drafts.pg.path;
    for draft in drafts.iter().skip(usize::from(is_common)) {
        append(&root, draft).map_err(Failure::io(format!("write {}", draft.path)))?;
        report::line(&format!("wrote {} to {}", draft.name, draft.path));
    }
    report::line("next: make it say what you mean on both pages, then `cargo diglot prepare`");
    Ok(Outcome::Clean)
}

/// Adds a draft to its file, behind an empty line.
fn append(root: &Path, draft: &Draft) -> std::io::Result<()> {
    let path = root.join(&draft.path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let old = match fs::read(&path) {
        Ok(old) => old,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let gap = match old.as_slice() {
        [] | [.., b'\n', b'\n'] => "",
        [.., b'\n'] => "\n",
        _ => "\n\n",
    };
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(format!("{gap}{}", draft.text).as_bytes())
}
