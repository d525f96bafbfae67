//! `cargo diglot review`: every pair side by side, for people.

use std::fs;
use std::io;
use std::path::Path;

use diglot::dialect::Dialect;
use diglot::{Compiled, Inputs};
use diglot_tools::review::{Plans, Request, Version, html, markdown};

use crate::cli::{Review, ReviewFormat};
use crate::failure::Failure;
use crate::{Outcome, check, report, revision};

/// Where plans are kept.
const PLANS: &str = "plans.txt";
/// Where the page goes when nobody says.
const PAGE: &str = "target/diglot/review.html";

pub(crate) fn run(arguments: &Review) -> Result<Outcome, Failure> {
    let root = check::root(&arguments.project)?;
    let (inputs, compiled) = read(&root)?;
    let before = match &arguments.since {
        Some(revision) => {
            let tree = revision::check_out(&root, revision)?;
            Some((revision.as_str(), read(&tree.project())?))
        }
        None => None,
    };
    let title = title(&root)?;
    let plans = kept_plans(&root)?;
    let request = Request {
        title: &title,
        now: Version { inputs: &inputs, compiled: &compiled },
        before: before.as_ref().map(|(revision, (inputs, compiled))| (*revision, Version { inputs, compiled })),
        plans: &plans,
    };
    let text = match arguments.format {
        ReviewFormat::Html => html(&request),
        ReviewFormat::Markdown => markdown(&request),
    };
    let file = match (&arguments.out, arguments.format) {
        (Some(file), _) => file.clone(),
        (None, ReviewFormat::Html) => root.join(PAGE),
        (None, ReviewFormat::Markdown) => {
            report::out(&text)?;
            return Ok(Outcome::Clean);
        }
    };
    write(&file, &text).map_err(Failure::io(format!("write {}", file.display())))?;
    report::line(&format!("{}: {}", file.display(), report::summary(&compiled, &compiled.diagnostics)));
    Ok(Outcome::Clean)
}

fn read(root: &Path) -> Result<(Inputs, Compiled), Failure> {
    let inputs = diglot::build::load(root)?;
    let compiled = diglot_tools::review::compile(&inputs);
    Ok((inputs, compiled))
}

/// The plans that `cargo diglot plans --save` kept, if it did.
fn kept_plans(root: &Path) -> Result<Plans, Failure> {
    match fs::read_to_string(root.join(PLANS)) {
        Ok(text) => Ok(plans(&text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Plans::new()),
        Err(source) => Err(Failure::Io { what: format!("read {PLANS}"), source }),
    }
}

/// The plans of a listing: `noun.statement` with the optional parts that are there, below it each dialect's title,
/// below that the lines of its plan.
fn plans(listing: &str) -> Plans {
    let mut plans = Plans::new();
    let mut statement = None;
    let mut dialect = None;
    for line in listing.lines().filter(|line| !line.trim().is_empty()) {
        let Some(rest) = line.strip_prefix("  ") else {
            let name = line.split_once('.').map_or(line, |(_, name)| name);
            statement = Some(name.split_once('+').unwrap_or((name, "")));
            dialect = None;
            continue;
        };
        let Some((name, variant)) = statement else { continue };
        let titled = Dialect::ALL.into_iter().find(|dialect| dialect.title() == rest);
        dialect = titled.or(dialect);
        let Some(dialect) = dialect else { continue };
        let plan = plans.entry((name.to_owned(), dialect)).or_default();
        match (titled, variant) {
            (None, _) => plan.push_str(&format!("{rest}\n")),
            (Some(_), "") => {}
            (Some(_), variant) => plan.push_str(&format!("with {}:\n", variant.replace('+', ", "))),
        }
    }
    plans
}

/// The name of the crate, else that of the project's folder.
fn title(root: &Path) -> Result<String, Failure> {
    if let Some(name) = fs::read_to_string(root.join("Cargo.toml")).ok().as_deref().and_then(package) {
        return Ok(name);
    }
    let root = fs::canonicalize(root).map_err(Failure::io(format!("find {}", root.display())))?;
    Ok(root.file_name().map_or_else(|| "project".to_owned(), |name| name.to_string_lossy().into_owned()))
}

/// The name that a manifest gives its package.
fn package(manifest: &str) -> Option<String> {
    let table = manifest.split("\n[").find_map(|table| table.trim_start_matches('[').strip_prefix("package]"))?;
    let name = table.lines().find_map(|line| line.trim().strip_prefix("name")?.trim_start().strip_prefix('='))?;
    Some(name.trim().trim_matches('"').to_owned())
}

fn write(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_name_of_its_crate() {
        assert_eq!(package("[workspace]\n\n[package]\nedition = \"2024\"\nname = \"a-b\"\n").as_deref(), Some("a-b"));
        assert_eq!(package("[package]\nname=\"a\"").as_deref(), Some("a"));
        assert_eq!(package("[workspace]\nmembers = []\n[lib]\nname = \"a\"\n"), None);
    }

    #[test]
    fn a_listing_of_plans_is_read() {
        let listing = "job.job_list\n  SQLite\n  ! SCAN job\n  Postgres\n    Index Scan\n      Index Cond\n\n\
                       job.job_list+lane+state\n  SQLite\n    SEARCH job\n";
        let plans = plans(listing);
        assert_eq!(plans[&("job_list".to_owned(), Dialect::Pg)], "  Index Scan\n    Index Cond\n");
        assert_eq!(plans[&("job_list".to_owned(), Dialect::Sqlite)], "! SCAN job\nwith lane, state:\n  SEARCH job\n");
        assert!(super::plans("nonsense\n  x\n \n\tSQLite\n").is_empty());
    }
}
