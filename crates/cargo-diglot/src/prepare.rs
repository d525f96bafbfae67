//! `cargo diglot prepare`: asks the real engines about every emitted text and records their answers.
//!
//! What is recorded, and in which form, is the business of `diglot::answers`. Nothing is written while there
//! is a finding, and only files that change are written.

mod folder;
pub(crate) mod pg;
pub(crate) mod refusal;
mod rows;
pub(crate) mod sqlite;
mod statements;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use diglot::answers::{self, Described, DescribedColumn};
use diglot::diagnostic::Severity;
use diglot::dialect::Dialect;
use diglot::evidence::{self, Evidence};
use diglot::schema;
use diglot::source::FileId;
use diglot::{Compiled, EmittedText, Inputs, Weighed};
use indicatif::{ProgressBar, ProgressStyle};
use sqlx::{Column, Database, Describe};

use crate::cli::Prepare;
use crate::failure::Failure;
use crate::host::{Host, Sorting};
use crate::prove::evidence::gather;
use crate::prove::first_sorting;
use crate::{Outcome, check, report, runtime};
use folder::Changes;
use refusal::Refusal;

/// The variable that names a server, if `--postgres` does not. `DATABASE_URL` never does: it belongs to the
/// program that is being built, and may be anything.
pub(crate) const URL_VARIABLE: &str = "DIGLOT_POSTGRES_URL";

/// Where answers and evidence are.
const FOLDER: &str = ".sqlx";

/// How many pairs without evidence are named before the rest is only counted.
const NAMED: usize = 8;

/// What findings keep the command from.
const NOT_DONE: &str = "nothing was written";

/// What the engines are asked about.
struct Project<'a> {
    inputs: &'a Inputs,
    compiled: &'a Compiled,
    progress: ProgressBar,
}

/// What one engine said.
#[derive(Default)]
struct Asked {
    /// Its name and version.
    engine: String,
    /// Answers by the text's place among the compiled texts.
    answers: Vec<(usize, Described)>,
    /// What it refused.
    findings: Vec<diglot::diagnostic::Diagnostic>,
}

pub(crate) fn run(arguments: &Prepare) -> Result<Outcome, Failure> {
    let root = check::root(&arguments.project)?;
    // What was answered before has no say in what is asked and recorded now.
    let (mut inputs, compiled) = check::alone(&root)?;
    if inputs.findings.iter().any(|finding| finding.severity == Severity::Error) {
        return check::found(&inputs, &compiled, &compiled.diagnostics, NOT_DONE);
    }
    let folder = root.join(FOLDER);
    let answers = inputs.config.generate.enabled && !compiled.has_errors();
    let mut files = BTreeMap::new();
    if answers {
        let project = Project { inputs: &inputs, compiled: &compiled, progress: progress(compiled.texts.len()) };
        let asked = runtime()?.block_on(ask(&project, arguments.postgres.clone()))?;
        project.progress.finish_and_clear();
        let mut findings: Vec<_> = asked.iter().flat_map(|asked| asked.findings.iter().cloned()).collect();
        if !findings.is_empty() {
            findings.sort_by_key(|finding| finding.labels.first().map(|label| label.span));
            return check::found(&inputs, &compiled, &findings, NOT_DONE);
        }
        let (index, of_texts) = self::files(&inputs, &compiled, asked.iter().flat_map(|asked| &asked.answers));
        files = of_texts;
        inputs.answers = Some(index);
        let engines: Vec<&str> = asked.iter().map(|asked| asked.engine.as_str()).collect();
        let texts = report::counted(compiled.texts.len(), "text");
        report::line(&format!("{texts} answered by {}", engines.join(" and ")));
    }
    let old = inputs.evidence.as_deref().and_then(Evidence::parse);
    if arguments.check {
        let missing = missing(&compiled, old.as_ref());
        missing.iter().take(NAMED).for_each(|name| report::line(&format!("no evidence of {name} as it is now")));
        if missing.len() > NAMED {
            report::line(&format!("and of {} more", missing.len() - NAMED));
        }
        let changes = if answers { Some(Changes::of_answers(&folder, &files)?) } else { None };
        let fresh = changes.map_or(Outcome::Clean, |changes| changes.complain());
        return Ok(if missing.is_empty() { fresh } else { Outcome::Findings });
    }
    let is_open = !compiled.weighed.is_empty();
    let text = match is_open {
        true => Some(runtime()?.block_on(run_pairs(&inputs, &compiled, old, arguments.postgres.clone()))?.to_text()),
        // Where the texts say it all there is nothing to record.
        false => None,
    };
    inputs.evidence.clone_from(&text);
    inputs.check_answers = answers;
    inputs.asking = false;
    let checked = diglot::check(&inputs);
    let is_sound = answers && !checked.has_errors();
    files.extend(text.map(|text| (evidence::FILE.to_owned(), text)));
    let changes =
        if is_sound { Changes::between(&folder, &files) } else { Changes::only(&folder, evidence::FILE, &files) };
    let written = changes?.write()?;
    if checked.has_errors() {
        let not_done =
            if inputs.config.generate.enabled { "the answers were not recorded" } else { "evidence is recorded" };
        return check::found(&inputs, &checked, &checked.diagnostics, not_done);
    }
    if is_open {
        report::line(&report::evidence(&checked));
    }
    Ok(written)
}

/// The pairs of which nothing is recorded as they are now, and whose texts alone do not say that they mean the same.
fn missing<'c>(compiled: &'c Compiled, old: Option<&Evidence>) -> Vec<&'c str> {
    let is_known = |pair: &Weighed| old.is_some_and(|old| old.of(&pair.name, &pair.basis).is_some());
    let is_missing = |pair: &&Weighed| !is_known(pair);
    compiled.weighed.iter().filter(is_missing).map(|pair| pair.name.as_str()).collect()
}

/// Runs the pairs of which nothing is recorded as they are now.
async fn run_pairs(
    inputs: &Inputs,
    compiled: &Compiled,
    old: Option<Evidence>,
    url: Option<String>,
) -> Result<Evidence, Failure> {
    let gathered = async |host: &Host| gather(inputs, compiled, old.clone(), host).await;
    Host::during(url, first_sorting(inputs), gathered).await
}

/// Asks both engines at once.
async fn ask(project: &Project<'_>, url: Option<String>) -> Result<Vec<Asked>, Failure> {
    let asked = async |host: &Host| pg::ask(project, &host.scratch).await;
    let postgres = Host::during(url, Sorting::Server, asked);
    let (sqlite, pg) = tokio::join!(sqlite::ask(project), postgres);
    Ok(vec![sqlite?, pg?])
}

/// The index and all files by name.
fn files<'a>(
    inputs: &Inputs,
    compiled: &Compiled,
    asked: impl Iterator<Item = &'a (usize, Described)>,
) -> (String, BTreeMap<String, String>) {
    let mut records = BTreeMap::new();
    let mut files = BTreeMap::new();
    for (text, described) in asked.filter_map(|(at, described)| Some((compiled.texts.get(*at)?, described))) {
        records.insert(answers::key(text), answers::record(text, described));
        files.extend([answers::query_file(text, described)]);
    }
    let index = answers::index(inputs, &records);
    files.insert(answers::INDEX_FILE.to_owned(), index.clone());
    (index, files)
}

/// A bar on a terminal, nothing in a pipe.
fn progress(texts: usize) -> ProgressBar {
    let bar = ProgressBar::new(texts as u64);
    match ProgressStyle::with_template("asking the engines {bar:40} {pos}/{len}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

impl Project<'_> {
    /// The texts of a dialect with their places among all.
    fn texts(&self, dialect: Dialect) -> impl Iterator<Item = (usize, &EmittedText)> {
        self.compiled.texts.iter().enumerate().filter(move |(_, text)| text.dialect == dialect)
    }
}

/// The migrations of a dialect in the order in which they run.
pub(crate) fn migrations(inputs: &Inputs, dialect: Dialect) -> Vec<(FileId, &str)> {
    let files = inputs.migrations(dialect).into_iter();
    files.map(|(id, _)| (id, schema::up(&inputs.sources.file(id).text))).collect()
}

/// The columns of a description, with types as sqlx writes them into its files.
fn columns<DB: Database>(describe: &Describe<DB>) -> Result<Vec<DescribedColumn>, sqlx::Error>
where
    DB::TypeInfo: serde::Serialize,
{
    let columns = describe.columns.iter().zip(&describe.nullable);
    columns
        .map(|(column, nullable)| {
            let type_info =
                serde_json::to_value(column.type_info()).map_err(|error| sqlx::Error::Encode(error.into()))?;
            Ok(DescribedColumn { name: column.name().to_owned(), type_info, nullable: *nullable })
        })
        .collect()
}
