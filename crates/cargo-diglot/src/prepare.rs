//! `cargo diglot prepare`: asks the real engines about every emitted text and records their answers.
//!
//! What is recorded, and in which form, is the business of `diglot::answers`. No answers are written while there is a
//! finding, and only files that change are written. What running a pair
//! shows is kept as soon as it is known: a run that is interrupted goes on where it was.

pub(crate) mod folder;
pub(crate) mod pg;
pub(crate) mod refusal;
mod rows;
pub(crate) mod sqlite;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use diglot::answers::{self, Described, DescribedColumn, Index};
use diglot::diagnostic::{Diagnostic, Severity};
use diglot::dialect::Dialect;
use diglot::evidence::{self, Evidence};
use diglot::source::FileId;
use diglot::{Compiled, EmittedText, Inputs, Weighed};
use diglot::{history, schema};
use indicatif::{MultiProgress, ProgressBar};
use sqlx::{Column, Database, Describe};

use crate::cli::Prepare;
use crate::failure::Failure;
use crate::host::{Host, Sorting};
use crate::prove::evidence::gather;
use crate::prove::{Engines, first_sorting};
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
    /// What is known of texts by their places among all, so that nobody has to be asked.
    known: BTreeMap<usize, Described>,
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
    findings: Vec<Diagnostic>,
}

pub(crate) fn run(arguments: &Prepare) -> Result<Outcome, Failure> {
    let root = check::root(&arguments.project)?;
    let recorded = fs::read_to_string(root.join(FOLDER).join(answers::INDEX_FILE)).ok();
    // What was answered before has no say in what is found now.
    let (mut inputs, compiled) = check::alone(&root)?;
    if inputs.findings.iter().any(|finding| finding.severity == Severity::Error) {
        return check::found(&inputs, &compiled, &compiled.diagnostics, NOT_DONE);
    }
    let folder = root.join(FOLDER);
    let wanted = Wanted {
        answers: inputs.config.generate.enabled && !compiled.has_errors(),
        evidence: !arguments.check,
        recorded: recorded.as_deref().and_then(Index::parse),
        old: inputs.evidence.as_deref().and_then(Evidence::parse),
    };
    let mut files = BTreeMap::new();
    let mut gathered = None;
    if wanted.answers || wanted.evidence {
        let told = async |host: &Host| told(&inputs, &compiled, &wanted, &folder, host).await;
        let host = Host::during(&arguments.postgres, first_sorting(&inputs), told);
        let (asked, evidence) = match runtime()?.block_on(host)? {
            Ok(told) => told,
            Err(findings) => return check::found(&inputs, &compiled, &findings, NOT_DONE),
        };
        gathered = evidence;
        if wanted.answers {
            report::line(&answered(&asked, all_texts(&compiled).len()));
            let (index, of_texts) = self::files(&inputs, &compiled, asked.iter().flat_map(|asked| &asked.answers));
            files = of_texts;
            inputs.answers = Some(index);
        }
    }
    if arguments.check {
        let is_complete = complain(&inputs, &compiled, wanted.old.as_ref());
        let changes = if wanted.answers { Some(Changes::of_answers(&folder, &files)?) } else { None };
        let fresh = changes.map_or(Outcome::Clean, |changes| changes.complain());
        return Ok(if is_complete { fresh } else { Outcome::Findings });
    }
    let text = gathered.map(|evidence| evidence.to_text());
    inputs.evidence.clone_from(&text);
    inputs.check_answers = wanted.answers;
    inputs.asking = false;
    let checked = diglot::check(&inputs);
    let is_sound = wanted.answers && !checked.has_errors();
    files.extend(text.map(|text| (evidence::FILE.to_owned(), text)));
    let changes =
        if is_sound { Changes::between(&folder, &files) } else { Changes::only(&folder, evidence::FILE, &files) };
    if wanted.evidence && !checked.has_errors() {
        report::line(&report::evidence(&checked));
    }
    let written = changes?.write()?;
    folder::forget(&folder);
    if checked.has_errors() {
        let not_done =
            if inputs.config.generate.enabled { "the answers were not recorded" } else { "evidence is recorded" };
        return check::found(&inputs, &checked, &checked.diagnostics, not_done);
    }
    Ok(written)
}

/// What is to be found out, and what is recorded.
struct Wanted {
    answers: bool,
    evidence: bool,
    recorded: Option<Index>,
    old: Option<Evidence>,
}

/// What the engines say: their answers, and evidence where it is wanted; or what they refuse.
type Told = Result<(Vec<Asked>, Option<Evidence>), Vec<Diagnostic>>;

async fn told(
    inputs: &Inputs,
    compiled: &Compiled,
    wanted: &Wanted,
    folder: &Path,
    host: &Host,
) -> Result<Told, Failure> {
    let engines = Engines::versions_of(host).await?;
    let old = wanted.old.clone().filter(|old| old.engines == engines);
    let known = match (&old, &wanted.recorded) {
        (Some(old), Some(index)) if wanted.evidence => known(folder, index, compiled, old),
        _ => BTreeMap::new(),
    };
    let old = match folder::kept(folder).filter(|kept| kept.engines == engines) {
        Some(mut kept) => {
            let all = old.map(|old| old.pairs).into_iter().flatten();
            all.for_each(|(name, record)| _ = kept.pairs.entry(name).or_insert(record));
            Some(kept)
        }
        None => old,
    };
    match both((inputs, compiled), wanted.answers, known, wanted.evidence.then_some(old), folder, host).await {
        Ok(both) => Ok(Ok(both)),
        Err(Stopped::Failed(failure)) => Err(failure),
        Err(Stopped::Refused(findings)) => Ok(Err(findings)),
    }
}

/// Who answered how many texts.
fn answered(asked: &[Asked], texts: usize) -> String {
    let engines: Vec<&Asked> = asked.iter().filter(|asked| !asked.engine.is_empty()).collect();
    let count: usize = engines.iter().map(|asked| asked.answers.len()).sum();
    let names: Vec<&str> = engines.iter().map(|asked| asked.engine.as_str()).collect();
    let (counted, names) = (report::counted(texts, "text"), names.join(" and "));
    if count == texts {
        return format!("{counted} answered by {names}");
    }
    format!("{count} of {counted} answered by {names}, the others as before")
}

/// Names the pairs of which nothing is recorded as they are now; whether there is none.
fn complain(inputs: &Inputs, compiled: &Compiled, old: Option<&Evidence>) -> bool {
    let is_known = |pair: &Weighed| old.is_some_and(|old| old.knows(&pair.name, &pair.basis));
    let missing: Vec<&Weighed> = compiled.weighed.iter().filter(|pair| !is_known(pair)).collect();
    for pair in missing.iter().take(NAMED) {
        report::line(&format!("no evidence of {} as it is now", pair.name));
    }
    if missing.len() > NAMED {
        report::line(&format!("and of {} more", missing.len() - NAMED));
    }
    let are_steps_known = history::is_recorded(inputs, old.unwrap_or(&Evidence::default()));
    if !are_steps_known {
        report::line("no evidence of the migrations as they are now");
    }
    missing.is_empty() && are_steps_known
}

/// The answers of texts whose pairs rest on what they rested on when both engines were asked, by the texts' places.
fn known(folder: &Path, index: &Index, compiled: &Compiled, old: &Evidence) -> BTreeMap<usize, Described> {
    let holds = |pair: &&Weighed| old.knows(&pair.name, &pair.basis);
    let unchanged: BTreeSet<&str> = compiled.weighed.iter().filter(holds).map(|pair| pair.name.as_str()).collect();
    // A step has the statement's name with its number.
    let of = |text: &EmittedText| text.name.split('.').next().is_some_and(|name| unchanged.contains(name));
    let texts = all_texts(compiled).into_iter().enumerate().filter(|(_, text)| of(text));
    let known = texts.filter_map(|(at, text)| {
        let record = index.texts.get(&answers::key(text))?;
        let file = fs::read_to_string(folder.join(format!("query-{}.json", record.hash))).ok()?;
        Some((at, answers::described(text, record, &file)?))
    });
    known.collect()
}

/// Why nothing is recorded.
enum Stopped {
    Failed(Failure),
    /// An engine refuses a text.
    Refused(Vec<Diagnostic>),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Asks both engines about all texts, where that is wanted, while the pairs are run of which nothing is recorded, where the
/// records are given. What is refused ends both.
async fn both(
    (inputs, compiled): (&Inputs, &Compiled),
    answers: bool,
    known: BTreeMap<usize, Described>,
    old: Option<Option<Evidence>>,
    folder: &Path,
    host: &Host,
) -> Result<(Vec<Asked>, Option<Evidence>), Stopped> {
    let bars = MultiProgress::new();
    let asked = async {
        if !answers {
            return Ok(Vec::new());
        }
        let progress = bars.add(report::bar("asking the engines", all_texts(compiled).len() - known.len()));
        let project = Project { inputs, compiled, known, progress };
        let mut asked = ask(&project, host).await?;
        project.progress.finish_and_clear();
        asked.push(Asked { answers: project.known.into_iter().collect(), ..Asked::default() });
        let mut refused: Vec<Diagnostic> = asked.iter().flat_map(|asked| asked.findings.iter().cloned()).collect();
        refused.sort_by_key(|finding| finding.labels.first().map(|label| label.span));
        if refused.is_empty() { Ok(asked) } else { Err(Stopped::Refused(refused)) }
    };
    let gathered = async {
        match old {
            Some(old) => Ok(Some(gather((inputs, compiled), old, host, &bars, folder).await?)),
            None => Ok(None),
        }
    };
    tokio::try_join!(asked, gathered)
}

/// Asks both engines at once.
async fn ask(project: &Project<'_>, host: &Host) -> Result<Vec<Asked>, Failure> {
    let postgres = async { pg::ask(project, &host.another(Sorting::Server).await?).await };
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
    let texts = all_texts(compiled);
    for (text, described) in asked.filter_map(|(at, described)| Some((*texts.get(*at)?, described))) {
        records.insert(answers::key(text), answers::record(text, described));
        files.extend([answers::query_file(text, described)]);
    }
    let index = answers::index(inputs, &records);
    files.insert(answers::INDEX_FILE.to_owned(), index.clone());
    (index, files)
}

/// All texts, each with its steps behind it.
fn all_texts(compiled: &Compiled) -> Vec<&EmittedText> {
    compiled.texts.iter().flat_map(EmittedText::all).collect()
}

impl Project<'_> {
    /// The texts of a dialect that are to be asked about, with their places among all.
    fn texts(&self, dialect: Dialect) -> impl Iterator<Item = (usize, &EmittedText)> {
        let texts = all_texts(self.compiled).into_iter().enumerate();
        texts.filter(move |(at, text)| text.dialect == dialect && !self.known.contains_key(at))
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
