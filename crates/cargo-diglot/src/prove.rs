//! `cargo diglot prove`: runs both pages of every pair on the same data with the same arguments and compares what
//! comes of it.
//!
//! The data, the comparison and the shrinking are the business of `diglot_tools::prove`. Here both engines are opened,
//! and every case runs in a transaction that is rolled back. Postgres sorts text as `pg_collation` says; without it both
//! by a language, as far as the server can, and by bytes.

pub(crate) mod beside;
#[cfg(test)]
mod catalogue;
mod engines;
pub(crate) mod evidence;
#[cfg(test)]
mod generated;
mod history;
mod kept;
mod pg;
mod report;
mod sqlite;
#[cfg(test)]
mod telling;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;

use diglot::Inputs;
use diglot::diagnostic::{Diagnostic, Severity};
use diglot_tools::prove::{
    CHECK, Case, Difference, ENDLESS, Engines as _, Fault, NOT_NULL, Prover, REFERENCE, Subject, UNIQUE,
};
use sqlx::error::ErrorKind;

use crate::cli::{Format, Prove};
use crate::failure::Failure;
use crate::host::Host;
use crate::{Outcome, check, report as terminal, runtime};
pub(crate) use engines::{Engines, first_sorting};

/// How many differences of a pair are told.
const DIFFERENCES: usize = 3;
/// How many cases run together, until the pair is known to differ.
const TOGETHER: usize = 512;
/// On how many databases of Postgres cases run at once.
const CONNECTIONS: usize = 2;

/// What came of a statement.
#[derive(Default)]
struct Tried {
    /// Neither engine takes its texts.
    refused: bool,
    cases: usize,
    /// Differences of several kinds, each with the smallest data that shows it.
    found: Vec<(Case, Difference)>,
    /// The tables that had rows in a case.
    filled: BTreeSet<String>,
    /// Columns of declared differences that were seen; an empty one for all that differs.
    seen: BTreeSet<String>,
}

impl Tried {
    /// Whether a difference is of the kind of one that was found.
    fn tells(&self, difference: &Difference) -> bool {
        self.found.iter().any(|(_, known)| {
            let is_whole = known.columns.is_empty() || difference.columns.is_empty();
            known.what == difference.what && (is_whole || known.columns.is_superset(&difference.columns))
        })
    }
}

pub(crate) fn run(arguments: &Prove) -> Result<Outcome, Failure> {
    let root = check::root(&arguments.project)?;
    terminal::line("comparing the pages");
    let (inputs, compiled) = check::alone(&root)?;
    if compiled.has_errors() {
        let is_error = |finding: &Diagnostic| finding.severity == Severity::Error;
        let unread = inputs.findings.iter().any(is_error);
        let then = if unread { "nothing was run" } else { "what can be run is run all the same" };
        check::found(&inputs, &compiled, &compiled.diagnostics, then)?;
        if unread {
            return Ok(Outcome::Findings);
        }
    }
    terminal::line("opening both engines");
    let findings = runtime()?.block_on(prove(arguments, &root, &inputs, &compiled))?;
    if let Some(empty) = findings.empty() {
        terminal::line(&empty);
    }
    terminal::line(&findings.summary());
    Ok(if findings.count == 0 && !compiled.has_errors() { Outcome::Clean } else { Outcome::Findings })
}

/// What a run found.
#[derive(Default)]
struct Findings {
    count: usize,
    pairs: usize,
    cases: usize,
    /// The tables that were to have rows, and those that had some.
    tables: BTreeSet<String>,
    filled: BTreeSet<String>,
}

impl Findings {
    fn summary(&self) -> String {
        let (pairs, cases) = (terminal::counted(self.pairs, "pair"), terminal::counted(self.cases, "case"));
        format!("{pairs} run in {cases} on both engines, {}", terminal::counted(self.count, "finding"))
    }

    /// The tables of which both engines never took a row: what is only said of them was not tried.
    fn empty(&self) -> Option<String> {
        let empty: Vec<&str> = self.tables.difference(&self.filled).map(String::as_str).collect();
        let said = "no row that both engines take was made for";
        let then = "say what their columns hold in `diglot.toml`, under `[words]` and `[prove.ranges]`, or keep cases in `prove/`";
        (!empty.is_empty()).then(|| format!("{said} {}; {then}", empty.join(", ")))
    }
}

async fn prove(
    arguments: &Prove,
    root: &Path,
    inputs: &Inputs,
    compiled: &diglot::Compiled,
) -> Result<Findings, Failure> {
    let proved = async |host: &Host| all(arguments, root, inputs, compiled, host).await;
    Host::during(&arguments.postgres, first_sorting(inputs), proved).await
}

async fn all(
    arguments: &Prove,
    root: &Path,
    inputs: &Inputs,
    compiled: &diglot::Compiled,
    host: &Host,
) -> Result<Findings, Failure> {
    let mut teams = Engines::open(inputs, host, 1, CONNECTIONS).await?;
    let engines = &mut teams[0];
    let relations = engines.relations().await?;
    let subjects = Prover::new(inputs, compiled, &relations).subjects();
    let wanted = |subject: &&Subject| arguments.statement.as_ref().is_none_or(|name| *name == subject.name);
    let subjects: Vec<&Subject> = subjects.iter().filter(wanted).collect();
    if let (true, Some(name)) = (subjects.is_empty(), &arguments.statement) {
        return Err(Failure::UnknownStatement { name: name.clone() });
    }
    let kept = kept::read(root)?;
    let progress = terminal::bar("proving", subjects.len());
    let mut findings = Findings { pairs: subjects.len(), ..Findings::default() };
    for subject in subjects {
        progress.set_message(subject.name.clone());
        let own = kept.iter().filter(|(name, _)| *name == subject.name).map(|(_, case)| case.clone());
        let tried = subject_tried(engines, subject, own.collect(), arguments, DIFFERENCES).await?;
        findings.cases += tried.cases;
        findings.tables.extend(subject.tables.iter().map(|table| table.name.clone()));
        findings.filled.extend(tried.filled.iter().cloned());
        let list = report::findings(subject, &tried);
        findings.count += list.len();
        if !list.is_empty() {
            progress.suspend(|| terminal::findings(&inputs.sources, &list, Format::Full))?;
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(findings)
}

/// The codes by which Postgres says that a number or a text is too large for its type.
const WIDTHS: [&str; 2] = ["22003", "22001"];
/// The code by which Postgres says that it was told to stop.
const CANCELED: &str = "57014";

/// An engine's refusal as a program sees it.
fn fault(error: sqlx::Error) -> Fault {
    let Some(error) = error.as_database_error() else { return Fault::of(error.to_string()) };
    let kind = match error.kind() {
        ErrorKind::UniqueViolation => UNIQUE,
        ErrorKind::ForeignKeyViolation => REFERENCE,
        ErrorKind::NotNullViolation => NOT_NULL,
        ErrorKind::CheckViolation => CHECK,
        _ if error.code().as_deref() == Some(CANCELED) => ENDLESS,
        _ => "",
    };
    let is_too_large = error.code().is_some_and(|code| WIDTHS.contains(&&*code));
    Fault { kind, words: error.message().to_owned(), beside: is_too_large.then_some(CHECK) }
}

/// Whether cases have the same rows, and may share them.
fn same_rows(a: &Case, b: &Case) -> bool {
    a.rows == b.rows
}

/// Tries a pair until it differs in so many ways or the cases are through.
async fn subject_tried(
    engines: &mut Engines,
    subject: &Subject,
    kept: Vec<Case>,
    arguments: &Prove,
    most: usize,
) -> Result<Tried, Failure> {
    let mut tried = Tried::default();
    if let (true, [texts]) = (subject.is_partial, subject.variants.as_slice()) {
        // Several statements go to Postgres one by one, if a program runs them at all.
        if texts.pg.parts.len() > 1 {
            tried.refused = true;
            return Ok(tried);
        }
        let (difference, is_refused) = engines.takes(subject, texts)?;
        tried.refused = is_refused;
        tried.found.extend(difference.map(|difference| (Case::default(), difference)));
        if tried.refused || !tried.found.is_empty() {
            return Ok(tried);
        }
    }
    let made = (0..arguments.cases).map(|number| subject.case(arguments.seed, number, arguments.rows));
    let mut all = kept.into_iter().chain(made);
    let mut shrunk = 0;
    loop {
        let mut cases: Vec<Case> = all.by_ref().take(TOGETHER).collect();
        if cases.is_empty() {
            return Ok(tried);
        }
        let answers = engines.run_many(subject, &mut cases)?;
        for (case, answers) in cases.into_iter().zip(answers) {
            let Some((sqlite, pg)) = answers else { continue };
            tried.cases += 1;
            tried.filled.extend(case.rows.iter().filter(|(_, rows)| !rows.is_empty()).map(|(name, _)| name.clone()));
            if !subject.declared.is_empty()
                && let Some(difference) = subject.compare_all(&case, &sqlite, &pg)
            {
                tried.seen.extend(difference.columns);
                tried.seen.insert(String::new());
            }
            let Some(difference) = subject.compare(&case, &sqlite, &pg) else { continue };
            if tried.tells(&difference) {
                continue;
            }
            shrunk += 1;
            let (case, difference) = engines.smaller(subject, case, difference)?;
            // What is left of it may be what is told of already, or what no program writes.
            if !tried.tells(&difference) && !subject.is_assumed_away(&case) {
                tried.found.push((case, difference));
            }
            if shrunk == most {
                return Ok(tried);
            }
        }
    }
}
