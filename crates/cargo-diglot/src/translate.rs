//! `cargo diglot translate NOUN.STATEMENT`: drafts the page that a statement lacks.

use std::fs;
use std::io;

use diglot_tools::translate::{placed, translate};

use crate::cli::Translate;
use crate::failure::Failure;
use crate::{Outcome, check, report};

pub(crate) fn run(arguments: &Translate) -> Result<Outcome, Failure> {
    let root = check::root(&arguments.project)?;
    let inputs = diglot::build::load(&root)?;
    let translation = translate(&inputs, &arguments.statement)?;
    let draft = &translation.draft;
    if arguments.write {
        let path = root.join(&draft.path);
        let failed = |what: &str| Failure::io(format!("{what} {}", draft.path));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed("write"))?;
        }
        let old = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            old => old.map_err(failed("read"))?,
        };
        fs::write(&path, placed(&old, draft, translation.before)).map_err(failed("write"))?;
        report::line(&format!("wrote {} to {}", draft.name, draft.path));
    } else {
        report::out(&draft.text)?;
    }
    match translation.open.len() {
        0 => report::line("it checks clean; `cargo diglot prepare` asks the engine"),
        open => report::line(&format!("{} to decide, marked `-- decide:`", report::counted(open, "thing"))),
    }
    Ok(Outcome::Clean)
}
