//! `cargo diglot check`: compile, print the findings, no database.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use diglot::config::FILE as CONFIG;
use diglot::diagnostic::Diagnostic;
use diglot::evidence::{Extent, Scope, Verdict};
use diglot::fix::Fixed;
use diglot::render;
use diglot::{Compiled, Detail, Inputs, Stats, Weighed};

use crate::cli::{Check, Format, Project};
use crate::failure::Failure;
use crate::{Outcome, changed, overview, report, watch, workspace};

/// How often findings may lead to others that can be fixed.
const ROUNDS: usize = 8;

pub(crate) fn run(arguments: &Check) -> Result<Outcome, Failure> {
    if !arguments.workspace {
        let root = root(&arguments.project)?;
        return if arguments.watch { watch::run(&root, arguments.format) } else { one(arguments, &root) };
    }
    let packages = workspace::packages()?.into_iter().filter(|(_, folder)| folder.join(CONFIG).is_file());
    let mut outcomes = Vec::new();
    for (name, folder) in packages {
        report::line(&format!("{name}:"));
        outcomes.push(one(arguments, &folder)?);
    }
    if outcomes.is_empty() {
        return Err(Failure::Workspace { what: format!("no package of the workspace has a {CONFIG}") });
    }
    Ok(outcomes.into_iter().find(|outcome| *outcome != Outcome::Clean).unwrap_or(Outcome::Clean))
}

/// Checks one project.
fn one(arguments: &Check, root: &Path) -> Result<Outcome, Failure> {
    if arguments.fix {
        fix(root)?;
    }
    let mut inputs = diglot::build::load(root)?;
    inputs.detail = if arguments.full { Detail::Whole } else { Detail::Short };
    // How far each pair was tried counts among the numbers.
    let detail = if arguments.stats { Detail::Whole } else { inputs.detail };
    let compiled = diglot::check(&inputs);
    let mut findings = overview::by_subject(&compiled);
    let all = findings.len();
    findings.truncate(arguments.limit.unwrap_or(all));
    let mut left = all - findings.len();
    if arguments.format == Format::Full && !arguments.full && arguments.limit.is_none() {
        (findings, left) = overview::for_people(&compiled, &inputs.sources, findings);
    }
    if arguments.format == Format::Full {
        report::out(&overview::of(&compiled))?;
    }
    if arguments.format == Format::Github {
        let changes = changed::since(root, arguments.base.as_deref())?;
        changes
            .iter()
            .for_each(|changes| findings.iter_mut().for_each(|finding| changes.mark(&inputs.sources, finding)));
    }
    match arguments.format {
        Format::Github => {
            let sources = changed::in_repository(root, &inputs.sources);
            report::verdicts(&sources, &findings, &compiled, (Format::Github, detail))?;
        }
        format => {
            report::verdicts(&report::from_here(root, inputs).sources, &findings, &compiled, (format, detail))?;
        }
    }
    if left > 0 {
        let how = "`--full` shows all of them, `--format short` in one line each";
        report::line(&format!("{} more not shown: {how}", report::counted(left, "finding")));
    }
    if arguments.format == Format::Github && !compiled.known.is_empty() {
        report::out(&render::known_on_github(compiled.known.len()))?;
    }
    report::line(&report::summary(&compiled, &compiled.diagnostics));
    if arguments.stats {
        report::line(&stats(compiled.stats));
        report::line(&report::evidence(&compiled));
        measures(&compiled.weighed).iter().for_each(|line| report::line(line));
    }
    if compiled.statements.0 == 0 && !compiled.has_errors() && !arguments.allow_empty {
        report::line("no statement stands on both pages, so nothing was compared; --allow-empty if that is meant");
        return Ok(Outcome::Findings);
    }
    Ok(if compiled.has_errors() { Outcome::Findings } else { Outcome::Clean })
}

/// Checks a project without the answers that are recorded, for a command that asks the engines itself.
pub(crate) fn alone(root: &Path) -> Result<(Inputs, Compiled), Failure> {
    let mut inputs = diglot::build::load(root)?;
    inputs.answers = None;
    inputs.check_answers = false;
    inputs.asking = true;
    let compiled = diglot::check(&inputs);
    Ok((inputs, compiled))
}

/// The same for a command that needs a sound project. None: it has findings, which are shown, and with them what was
/// not done.
pub(crate) fn without_answers(root: &Path, not_done: &str) -> Result<Option<(Inputs, Compiled)>, Failure> {
    let (inputs, compiled) = alone(root)?;
    if compiled.has_errors() {
        found(&inputs, &compiled, &compiled.diagnostics, not_done)?;
        return Ok(None);
    }
    Ok(Some((inputs, compiled)))
}

/// Shows findings that keep a command from its work, and what was not done.
pub(crate) fn found(
    inputs: &Inputs,
    compiled: &Compiled,
    findings: &[Diagnostic],
    not_done: &str,
) -> Result<Outcome, Failure> {
    report::findings(&inputs.sources, findings, Format::Full)?;
    report::line(&format!("{}; {not_done}", report::summary(compiled, findings)));
    Ok(Outcome::Findings)
}

/// Makes safe changes until there are none.
fn fix(root: &Path) -> Result<(), Failure> {
    for _ in 0..ROUNDS {
        let inputs = diglot::build::load(root)?;
        let fixed = diglot::fix::fixed(&inputs.sources, &diglot::check(&inputs).diagnostics);
        if fixed.is_empty() {
            break;
        }
        for Fixed { file, text, count } in fixed {
            let path = &inputs.sources.file(file).path;
            fs::write(root.join(path), text).map_err(Failure::io(format!("write {path}")))?;
            report::line(&format!("{path}: {} made", report::counted(count, "change")));
        }
    }
    Ok(())
}

/// How telling the recorded databases are: of how many pairs all of two rows a table were run, how many one-sided changes
/// they notice, and which conditions decide nothing on any of them.
fn measures(weighed: &[Weighed]) -> Vec<String> {
    let same = |pair: &'_ Weighed| match &pair.verdict {
        Some(Verdict::Same(scope)) => Some(scope.clone()),
        _ => None,
    };
    let scopes: Vec<(&str, Scope)> =
        weighed.iter().filter_map(|pair| Some((pair.name.as_str(), same(pair)?))).collect();
    if scopes.is_empty() {
        return Vec::new();
    }
    let whole = scopes.iter().filter(|(_, scope)| scope.extent == Extent::Whole && scope.rows > 1).count();
    let sum = |of: fn(&Scope) -> usize| scopes.iter().map(|(_, scope)| of(scope)).sum::<usize>();
    let (noticed, changes) = (sum(|scope| scope.noticed), sum(|scope| scope.changes));
    let mut lines = vec![format!(
        "{whole} of {} pairs run on all databases of two rows a table, {} cases in all; {noticed} of {changes} one-sided \
         changes noticed ({:.1} %)",
        scopes.len(),
        sum(|scope| scope.databases),
        noticed as f64 * 100.0 / changes.max(1) as f64,
    )];
    let undecided = scopes.iter().flat_map(|(name, scope)| scope.undecided.iter().map(move |it| (name, it)));
    lines.extend(undecided.map(|(name, condition)| format!("{name}: `{condition}` decides nothing on any database")));
    lines
}

/// What was compared, and the share that is declared to differ.
fn stats(stats: Stats) -> String {
    let (facts, waived) = (stats.facts, stats.waived);
    let mut compared = format!("{facts} facts compared, {waived} declared to differ ({:.1} %)", stats.waived_share());
    if stats.implied > 0 {
        compared.push_str(&format!(", {} of them by the schemas, `json_text` or `[stripped]`", stats.implied));
    }
    match stats.held_by_writer {
        0 => compared,
        locks => format!("{compared}, {} held by SQLite's one writer", report::counted(locks, "row lock")),
    }
}

/// The project's folder: the one named, or the nearest one upwards that looks like a project.
pub(crate) fn root(project: &Project) -> Result<PathBuf, Failure> {
    let start = match &project.root {
        Some(root) => root.clone(),
        None => match &project.package {
            Some(name) => return workspace::package(name),
            None => env::current_dir().map_err(Failure::io("find the current folder"))?,
        },
    };
    let found = match &project.root {
        Some(root) => is_project(root).then(|| root.clone()),
        None => nearest(&start),
    };
    found.ok_or(Failure::NoProject { root: start })
}

/// The nearest folder from there upwards that looks like a project.
pub(crate) fn nearest(start: &Path) -> Option<PathBuf> {
    start.ancestors().find(|folder| is_project(folder)).map(Path::to_path_buf)
}

pub(crate) fn is_project(folder: &Path) -> bool {
    folder.join("diglot.toml").is_file() || folder.join("sql").is_dir()
}
