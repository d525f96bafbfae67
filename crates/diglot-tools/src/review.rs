//! A review: every pair side by side for people, as one HTML page or as a comment in Markdown.
//!
//! Rendering is pure and everything that comes from a file is escaped. The page needs no network: its style and its
//! script are in it, and its policy allows nothing else.

mod align;
mod changed;
mod entry;
mod escape;
mod html;
mod locks;
mod markdown;
mod paint;
mod pane;
mod shown;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use diglot::dialect::Dialect;
use diglot::pipeline::{self, Compiled};
use diglot::project::Inputs;

/// Query plans as text, by statement and dialect.
pub type Plans = BTreeMap<(String, Dialect), String>;

/// A project as it was read and what came of it.
#[derive(Debug, Clone, Copy)]
pub struct Version<'a> {
    /// What was read.
    pub inputs: &'a Inputs,
    /// What [`compile`] made of it.
    pub compiled: &'a Compiled,
}

/// What is to be reviewed.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The project's name.
    pub title: &'a str,
    /// The project now.
    pub now: Version<'a>,
    /// An earlier state and its name: only what changed since then is shown, with before and after.
    pub before: Option<(&'a str, Version<'a>)>,
    /// Plans to show with their statements.
    pub plans: &'a Plans,
}

/// Compiles a project, writes no Rust, and keeps what a review shows of it: a build has no use for that.
pub fn compile(inputs: &Inputs) -> Compiled {
    pipeline::check_and_keep(inputs)
}

/// The whole review as one self-contained HTML page.
pub fn html(request: &Request<'_>) -> String {
    html::page(&changed::book(request))
}

/// The review as Markdown that fits a comment on a pull request: the summary, what changed, what is found.
pub fn markdown(request: &Request<'_>) -> String {
    markdown::comment(&changed::book(request))
}
