//! `cargo diglot locks`: which rows are waited for while others are held.

use std::io::Write as _;

use crate::cli::Locks;
use crate::failure::Failure;
use crate::{Outcome, check};

pub(crate) fn run(arguments: &Locks) -> Result<Outcome, Failure> {
    let root = check::root(&arguments.project)?;
    let text = diglot::lock_report(&diglot::build::load(&root)?);
    anstream::stdout().write_all(text.as_bytes()).map_err(Failure::io("print"))?;
    Ok(Outcome::Clean)
}
