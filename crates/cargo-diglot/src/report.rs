//! What goes to the terminal: findings on standard output, everything about the run on standard error.

use std::io::{self, Write};
use std::path::{Component, Path};

use anstream::{AutoStream, ColorChoice};
use diglot::baseline;
use diglot::diagnostic::{Diagnostic, Severity};
use diglot::evidence::Verdict;
use diglot::render::{self, Look, Ran};
use diglot::source::Sources;
use diglot::{Compiled, Detail, Inputs, Weighed};
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::Format;
use crate::failure::Failure;

/// The inputs with paths as they are from where the user stands, once nothing is read by them any more. Where the two
/// have no folder in common they stay as they are from the project's root.
pub(crate) fn from_here(root: &Path, mut inputs: Inputs) -> Inputs {
    let here = std::env::current_dir().and_then(std::fs::canonicalize);
    let (Ok(here), Ok(root)) = (here, std::fs::canonicalize(root)) else { return inputs };
    let way = way(&here, &root);
    if !way.is_empty() {
        inputs.sources.rename(|path| format!("{way}/{path}"));
    }
    inputs
}

/// The way from one folder to another, with forward slashes; empty where nothing but the top is common to them.
fn way(here: &Path, there: &Path) -> String {
    let common = here.components().zip(there.components()).take_while(|(one, other)| one == other).count();
    let is_top = here.components().take(common).all(|part| !matches!(part, Component::Normal(_)));
    if is_top && here.components().count() > common {
        return String::new();
    }
    let up = here.components().skip(common).map(|_| "..".into());
    let down = there.components().skip(common).map(|part| part.as_os_str().to_string_lossy());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// Prints findings in the order given.
pub(crate) fn findings(sources: &Sources, findings: &[Diagnostic], format: Format) -> Result<(), Failure> {
    is_over(out(&render::all(sources, findings, look(format)))).map(|_| ())
}

/// The same with what running has shown of each pair.
pub(crate) fn verdicts(
    sources: &Sources,
    findings: &[Diagnostic],
    compiled: &Compiled,
    (format, detail): (Format, Detail),
) -> Result<(), Failure> {
    let shown = compiled.weighed.iter().filter(|pair| !pair.by_law || !matches!(pair.verdict, Some(Verdict::Same(_))));
    let ran: Vec<Ran<'_>> = shown
        .filter_map(|pair| Some(Ran { name: &pair.name, place: pair.place, verdict: pair.verdict.as_ref()? }))
        .collect();
    is_over(out(&render::with_verdicts(sources, findings, &ran, (look(format), detail)))).map(|_| ())
}

fn look(format: Format) -> Look {
    match format {
        Format::Full if AutoStream::choice(&io::stdout()) == ColorChoice::Never => Look::Plain,
        Format::Full => Look::Color,
        Format::Short => Look::Short,
        Format::Json => Look::Json,
        Format::Sarif => Look::Sarif,
        Format::Github => Look::Github,
    }
}

/// Whether whoever read the pipe has seen enough.
pub(crate) fn is_over(printed: Result<(), Failure>) -> Result<bool, Failure> {
    match printed {
        Err(Failure::Io { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => Ok(true),
        result => result.map(|()| false),
    }
}

/// Text for standard output.
pub(crate) fn out(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::io("print"))
}

/// `37 pairs, 0 findings`, with what is there for one dialect alone and with warnings, if any.
pub(crate) fn summary(compiled: &Compiled, findings: &[Diagnostic]) -> String {
    let (pairs, single) = compiled.statements;
    let errors = errors(findings);
    let warnings = findings.len() - errors;
    let mut words = vec![counted(pairs, "pair")];
    if single > 0 {
        words.push(format!("{single} for one dialect alone"));
    }
    words.push(counted(errors, "finding"));
    let mut known = None;
    if !compiled.known.is_empty() {
        known = Some(baseline::folded(compiled.known.len()));
    }
    if warnings > 0 {
        words.push(counted(warnings, "warning"));
    }
    words.extend(known);
    words.join(", ")
}

/// What running the pairs has shown, in one line.
pub(crate) fn evidence(compiled: &Compiled) -> String {
    let count = |is: fn(&Weighed) -> bool| compiled.weighed.iter().filter(|pair| is(pair)).count();
    let is_same = |pair: &Weighed| matches!(pair.verdict, Some(Verdict::Same(_)));
    let by_law = count(|pair| pair.by_law);
    let when_run = compiled.weighed.iter().filter(|pair| !pair.by_law && is_same(pair)).count();
    let differ = count(|pair| matches!(pair.verdict, Some(Verdict::Differs(_))));
    let unknown = count(|pair| !pair.by_law && matches!(pair.verdict, None | Some(Verdict::Unknown { .. })));
    format!(
        "{by_law} the same by law, {when_run} when run, {differ} with a database on which they differ, {unknown} unknown"
    )
}

/// How many of the findings fail a build.
pub(crate) fn errors(findings: &[Diagnostic]) -> usize {
    findings.iter().filter(|finding| finding.severity == Severity::Error).count()
}

/// A bar on a terminal, nothing in a pipe, for so many things that something is done to.
pub(crate) fn bar(doing: &str, count: usize) -> ProgressBar {
    let bar = ProgressBar::new(count as u64);
    match ProgressStyle::with_template(&format!("{doing} {{bar:40}} {{pos}}/{{len}} {{msg}}")) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// A line about the run.
pub(crate) fn line(text: &str) {
    // A closed standard error leaves nobody to tell.
    writeln!(anstream::stderr(), "{text}").ok();
}

/// The tool failed.
pub(crate) fn failure(failure: &Failure) {
    line(&format!("\u{1b}[1;31merror\u{1b}[0m\u{1b}[1m:\u{1b}[0m {failure}"));
}

pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_goes_up_to_what_is_common_and_down_again() {
        let way = |here, there| way(Path::new(here), Path::new(there));
        assert_eq!(way("/home/ann/shop", "/home/ann/shop"), "");
        assert_eq!(way("/home/ann/shop", "/home/ann/shop/jobs"), "jobs");
        assert_eq!(way("/home/ann/shop/jobs/sql", "/home/ann/shop/jobs"), "..");
        assert_eq!(way("/home/ann/shop/mail", "/home/ann/shop/jobs/db"), "../jobs/db");
        assert_eq!(way("/home/ann", "/srv/jobs"), "");
        assert_eq!(way("/", "/srv/jobs"), "srv/jobs");
    }
}
