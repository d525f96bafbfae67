//! `cargo diglot prove`: runs both pages of every pair on the same data with the same arguments and compares what
//! comes of it.
//!
//! The data, the comparison and the shrinking are the business of `diglot::prove`. Here both engines are opened,
//! and every case runs in a transaction that is rolled back. Postgres sorts text by a language, as production
//! servers do, where the server can.

mod arguments;
pub(crate) mod evidence;
#[cfg(test)]
mod catalogue;
#[cfg(test)]
mod generated;
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
use diglot::prove::{Answer, Case, Difference, Fault, Prover, Relations, Subject};
use indicatif::{ProgressBar, ProgressStyle};
use sqlx::error::ErrorKind;

use crate::cli::{Format, Prove};
use crate::failure::Failure;
use crate::host::{Host, Sorting};
use crate::{Outcome, check, report as terminal, runtime};

/// How many steps are tried to make a difference smaller.
const SHRINK_STEPS: usize = 400;
/// How many differences of a pair are told.
const DIFFERENCES: usize = 3;
/// How often a case is tried again without the rows that an engine refuses.
const ATTEMPTS: usize = 4;

/// Both engines.
struct Engines {
    sqlite: sqlite::Sqlite,
    pg: pg::Pg,
    /// How many differences of a pair are looked for.
    most: usize,
}

/// What an engine did with a case.
enum Ran {
    /// It ran.
    Answered(Answer),
    /// It refused these rows, by table and place.
    Refused(Vec<(String, usize)>),
}

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
    Host::during(arguments.postgres.clone(), Sorting::Language, proved).await
}

async fn all(
    arguments: &Prove,
    root: &Path,
    inputs: &Inputs,
    compiled: &diglot::Compiled,
    host: &Host,
) -> Result<Findings, Failure> {
    let mut engines = Engines::open(inputs, host).await?;
    let relations = engines.relations().await?;
    let subjects = Prover::new(inputs, compiled, &relations).subjects();
    let wanted = |subject: &&Subject| arguments.statement.as_ref().is_none_or(|name| *name == subject.name);
    let subjects: Vec<&Subject> = subjects.iter().filter(wanted).collect();
    if let (true, Some(name)) = (subjects.is_empty(), &arguments.statement) {
        return Err(Failure::UnknownStatement { name: name.clone() });
    }
    let kept = kept::read(root)?;
    let progress = progress(subjects.len());
    let mut findings = Findings { pairs: subjects.len(), ..Findings::default() };
    for subject in subjects {
        progress.set_message(subject.name.clone());
        let own = kept.iter().filter(|(name, _)| *name == subject.name).map(|(_, case)| case.clone());
        let tried = engines.subject(subject, own.collect(), arguments).await?;
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

/// An engine's refusal as a program sees it.
fn fault(error: sqlx::Error) -> Fault {
    let Some(error) = error.as_database_error() else { return Fault::of(error.to_string()) };
    let kind = match error.kind() {
        ErrorKind::UniqueViolation => "a unique key",
        ErrorKind::ForeignKeyViolation => "a reference",
        ErrorKind::NotNullViolation => "NOT NULL",
        ErrorKind::CheckViolation => "a check",
        _ => "",
    };
    Fault { kind, words: error.message().to_owned() }
}

/// A bar on a terminal, nothing in a pipe.
fn progress(subjects: usize) -> ProgressBar {
    let bar = ProgressBar::new(subjects as u64);
    match ProgressStyle::with_template("proving {bar:40} {pos}/{len} {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

impl Engines {
    /// Both with the project's schema.
    async fn open(inputs: &Inputs, host: &Host) -> Result<Self, Failure> {
        let (sqlite, pg) = tokio::join!(sqlite::Sqlite::open(inputs), pg::Pg::open(inputs, host));
        Ok(Self { sqlite: sqlite?, pg: pg?, most: DIFFERENCES })
    }

    /// Both names with their versions.
    async fn versions(&mut self) -> Result<String, Failure> {
        Ok(format!("{}, {}", self.sqlite.version().await, self.pg.version()))
    }

    /// What both know and no schema does.
    async fn relations(&mut self) -> Result<Relations, Failure> {
        let (sqlite, pg) = (self.sqlite.relations().await?, self.pg.relations().await?);
        Ok(Relations { sqlite, pg, words: self.pg.words().await? })
    }

    /// Tries a pair until it differs or the cases are through.
    async fn subject(&mut self, subject: &Subject, kept: Vec<Case>, arguments: &Prove) -> Result<Tried, Failure> {
        let mut tried = Tried::default();
        if let (true, [texts]) = (subject.is_partial, subject.variants.as_slice()) {
            // Several statements go to Postgres one by one, if a program runs them at all.
            if texts.pg.parts.len() > 1 {
                tried.refused = true;
                return Ok(tried);
            }
            let taken = (self.sqlite.takes(&texts.sqlite).await, self.pg.takes(subject, &texts.pg).await);
            tried.refused = taken.0.is_err() && taken.1.is_err();
            let difference = Difference::taken(taken.0, taken.1);
            tried.found.extend(difference.map(|difference| (Case::default(), difference)));
            if tried.refused || !tried.found.is_empty() {
                return Ok(tried);
            }
        }
        let made = (0..arguments.cases).map(|number| subject.case(arguments.seed, number, arguments.rows));
        let mut shrunk = 0;
        for mut case in kept.into_iter().chain(made) {
            let Some((sqlite, pg)) = self.both(subject, &mut case).await? else { continue };
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
            let (case, difference) = self.shrink(subject, case, difference).await?;
            // What is left of it may be what is told of already.
            if !tried.tells(&difference) {
                tried.found.push((case, difference));
            }
            if shrunk == self.most {
                break;
            }
        }
        Ok(tried)
    }

    /// Runs a case on both engines. Rows that one of them refuses are left out of the case on both.
    async fn both(&mut self, subject: &Subject, case: &mut Case) -> Result<Option<(Answer, Answer)>, Failure> {
        for _ in 0..ATTEMPTS {
            let (sqlite, pg) = tokio::join!(self.sqlite.run(subject, case), self.pg.run(subject, case));
            let refused = match (sqlite?, pg?) {
                (Ran::Answered(sqlite), Ran::Answered(pg)) => return Ok(Some((sqlite, pg))),
                (Ran::Refused(mut rows), Ran::Refused(more)) => {
                    rows.extend(more);
                    rows
                }
                (Ran::Refused(rows), _) | (_, Ran::Refused(rows)) => rows,
            };
            for (table, rows) in &mut case.rows {
                let mut at = 0;
                rows.retain(|_| {
                    at += 1;
                    !refused.contains(&(table.clone(), at - 1))
                });
            }
        }
        Ok(None)
    }

    /// Makes a difference smaller while it stays one.
    async fn shrink(
        &mut self,
        subject: &Subject,
        case: Case,
        difference: Difference,
    ) -> Result<(Case, Difference), Failure> {
        let (mut best, mut shown) = (case, difference);
        let mut steps = 0;
        'smaller: loop {
            for mut next in subject.simpler(&best) {
                steps += 1;
                if steps > SHRINK_STEPS {
                    break 'smaller;
                }
                let Some((sqlite, pg)) = self.both(subject, &mut next).await? else { continue };
                if let Some(difference) = subject.compare(&next, &sqlite, &pg)
                    && difference.what == shown.what
                {
                    (best, shown) = (next, difference);
                    continue 'smaller;
                }
            }
            break;
        }
        Ok((best, shown))
    }
}
