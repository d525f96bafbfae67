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
use diglot::dialect::Dialect;
use diglot::schema;
use diglot::source::FileId;
use diglot::{Compiled, EmittedText, Inputs};
use indicatif::{ProgressBar, ProgressStyle};
use sqlx::{Column, Database, Describe};

use crate::cli::Prepare;
use crate::failure::Failure;
use crate::host::{Host, Sorting};
use crate::{Outcome, check, report, runtime};
use folder::Changes;
use refusal::Refusal;

/// The variable that names a server, if `--postgres` does not. `DATABASE_URL` never does: it belongs to the
/// program that is being built, and may be anything.
pub(crate) const URL_VARIABLE: &str = "DIGLOT_POSTGRES_URL";

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
    if !diglot::build::load(&root)?.config.generate.enabled {
        report::line("nothing is generated here (`generate = false`), so there is nothing to ask the engines");
        return Ok(Outcome::Clean);
    }
    // What was answered before has no say in what is asked and recorded now.
    let Some((mut inputs, compiled)) = check::without_answers(&root, NOT_DONE)? else {
        return Ok(Outcome::Findings);
    };
    let project = Project { inputs: &inputs, compiled: &compiled, progress: progress(compiled.texts.len()) };
    let asked = runtime()?.block_on(ask(&project, arguments.postgres.clone()))?;
    project.progress.finish_and_clear();
    let mut findings: Vec<_> = asked.iter().flat_map(|asked| asked.findings.iter().cloned()).collect();
    if !findings.is_empty() {
        findings.sort_by_key(|finding| finding.labels.first().map(|label| label.span));
        return check::found(&inputs, &compiled, &findings, NOT_DONE);
    }

    let (index, files) = files(&inputs, &compiled, asked.iter().flat_map(|asked| &asked.answers));
    inputs.answers = Some(index);
    inputs.check_answers = true;
    inputs.asking = false;
    let checked = diglot::check(&inputs);
    if checked.has_errors() {
        return check::found(&inputs, &checked, &checked.diagnostics, NOT_DONE);
    }
    let engines: Vec<&str> = asked.iter().map(|asked| asked.engine.as_str()).collect();
    let texts = report::counted(compiled.texts.len(), "text");
    report::line(&format!("{texts} answered by {}", engines.join(" and ")));
    let changes = Changes::between(&root.join(".sqlx"), &files)?;
    if arguments.check { Ok(changes.complain()) } else { changes.write() }
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
