//! `cargo diglot migrate`: runs the project's migrations on the database that a URL names.

use diglot::dialect::Dialect;
use diglot::schema;
use diglot_migrate::{Rehearsed, Status, Step, apply, rehearse, status};

use crate::cli::{Migrate, MigrateAction};
use crate::failure::Failure;
use crate::{Outcome, check, report, runtime};

pub(crate) fn run(arguments: &Migrate) -> Result<Outcome, Failure> {
    let root = check::root(&arguments.project)?;
    let inputs = diglot::build::load(&root)?;
    let dialect = if arguments.url.starts_with("sqlite:") { Dialect::Sqlite } else { Dialect::Pg };
    let files = inputs.migrations(dialect).into_iter();
    let step = |(id, stem)| Step::new(stem, schema::up(&inputs.sources.file(id).text));
    let steps: Vec<Step> = files.map(step).collect::<Result<_, _>>()?;
    if steps.is_empty() {
        let what = format!("{} has no migrations of {}", root.display(), dialect.title());
        return Err(Failure::Workspace { what });
    }
    let url = arguments.url.as_str();
    runtime()?.block_on(async {
        match arguments.action {
            MigrateAction::Apply => {
                let told = |step: &Step| report::line(&format!("{} has run", step.name));
                let count = apply(url, &steps, arguments.attempts, told).await?;
                let known = report::counted(steps.len() - count, "migration");
                report::line(&format!("{} applied, {known} applied before", report::counted(count, "migration")));
                Ok(Outcome::Clean)
            }
            MigrateAction::Status => told(&status(url, &steps).await?),
            MigrateAction::DryRun => {
                report::out(&rehearsed(&rehearse(url, &steps).await?))?;
                Ok(Outcome::Clean)
            }
        }
    })
}

/// One line for each migration; whether something is to be done.
fn told(status: &Status) -> Result<Outcome, Failure> {
    let mut lines = String::new();
    for name in &status.applied {
        let word = if status.changed.contains(name) { "changed" } else { "applied" };
        lines.push_str(&format!("{word} {name}\n"));
    }
    for name in &status.missing {
        let done = status.half.iter().find(|(of, _)| of == name);
        let done = done.map(|(_, count)| format!(" ({} done)", report::counted(*count, "statement")));
        lines.push_str(&format!("missing {name}{}\n", done.unwrap_or_default()));
    }
    status.unknown.iter().for_each(|version| lines.push_str(&format!("unknown {version}\n")));
    report::out(&lines)?;
    let ledgers = if status.ledgers.is_empty() { "none".to_owned() } else { status.ledgers.join(", ") };
    let missing = report::counted(status.missing.len(), "migration");
    report::line(&format!("{missing} missing; ledgers: {ledgers}"));
    let is_clean = status.missing.is_empty() && status.changed.is_empty();
    Ok(if is_clean { Outcome::Clean } else { Outcome::Findings })
}

/// The statements as SQL, with their locks as comments.
fn rehearsed(all: &[Rehearsed]) -> String {
    let mut text = String::new();
    let mut step = "";
    for one in all {
        if one.step != step {
            step = &one.step;
            text.push_str(&format!("-- migration {step}\n"));
        }
        text.push_str(&format!("{};\n", one.statement));
        one.locks.iter().for_each(|lock| text.push_str(&format!("-- locks {lock}\n")));
        one.remark.iter().for_each(|remark| text.push_str(&format!("-- {remark}\n")));
    }
    text
}
