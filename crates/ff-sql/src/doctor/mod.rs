//! Looking for what is wrong: facts are gathered from the database, and judged by [`checks`].

mod checks;
#[cfg(test)]
mod tests;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use console::style;
use ff_backend_sql::manage::{
    ExecutionFilter, Inspection, ListedExecution, ListedState, Manage, Pause, QueueCount, SchemaState,
};
use serde_json::json;

use crate::arguments::now_ms;
use crate::connect::{self, Kind, Opened};
use crate::failure::Failure;
use crate::look;
use crate::print::Printer;

/// How many executions one page of the look for poison has.
const PAGE: usize = 500;

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Fine,
    Warning,
    Problem,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    check: &'static str,
    verdict: Verdict,
    says: String,
    /// What to do; none where it is fine.
    advice: Option<String>,
}

/// What is known of every database that opens.
struct Facts {
    kind: Kind,
    /// How far this host's clock is ahead of the database's, in milliseconds, and how wrong that may be.
    ahead_ms: i64,
    within_ms: i64,
    schema: SchemaState,
}

/// What is known of one whose schema is current.
struct Contents {
    now_ms: i64,
    queues: Vec<QueueCount>,
    pauses: Vec<Pause>,
    crashed: Vec<ListedExecution>,
    inspection: Inspection,
}

/// `doctor`.
pub(crate) async fn run(target: &str, printer: &Printer) -> Result<ExitCode, Failure> {
    let opened = match connect::open(target).await {
        Ok(opened) => opened,
        Err(failure) if failure.is_shared => {
            let advice = "connect to the server itself, or set `pool_mode = session`; see docs/operations.md";
            let finding = checks::problem("pooler", failure.says, advice.to_owned());
            return Ok(print(&[finding], printer));
        }
        Err(failure) => return Err(failure),
    };
    let facts = facts(&opened).await?;
    let mut findings = checks::of_database(&facts);
    if facts.schema.missing.is_empty() {
        let bar = printer.progress("looking", None);
        findings.extend(checks::of_contents(facts.kind, &contents(opened.backend()).await?));
        bar.finish_and_clear();
    }
    Ok(print(&findings, printer))
}

async fn facts(opened: &Opened) -> Result<Facts, Failure> {
    let asked = Instant::now();
    let database_ms = look::time_ms(opened.backend()).await?;
    let took = asked.elapsed();
    let within_ms = crate::arguments::ms(took) / 2;
    let ahead_ms = now_ms().saturating_sub(within_ms).saturating_sub(database_ms);
    Ok(Facts { kind: opened.kind, ahead_ms, within_ms, schema: connect::schema(opened).await? })
}

async fn contents(backend: &dyn Manage) -> Result<Contents, Failure> {
    Ok(Contents {
        now_ms: look::time_ms(backend).await?,
        queues: backend.count_queues().await?,
        pauses: backend.list_pauses().await?,
        crashed: crashed(backend).await?,
        inspection: backend.inspect().await?,
    })
}

/// The executions that have not ended and that workers lost several times.
async fn crashed(backend: &dyn Manage) -> Result<Vec<ListedExecution>, Failure> {
    let states = ListedState::ALL.into_iter().filter(|state| !state.has_ended()).collect();
    let filter = ExecutionFilter { states, ..ExecutionFilter::default() };
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = backend.list_matching(&filter, after.as_ref(), PAGE).await?;
        found.extend(page.executions.into_iter().filter(|execution| execution.crashes >= checks::MANY_CRASHES));
        after = page.next;
        if after.is_none() {
            return Ok(found);
        }
    }
}

/// A minute, an hour and the like.
const fn minutes(count: u64) -> Duration {
    Duration::from_secs(60 * count)
}

fn print(findings: &[Finding], printer: &Printer) -> ExitCode {
    let worst = findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Fine);
    let word = |verdict| match verdict {
        Verdict::Fine => "fine",
        Verdict::Warning => "warning",
        Verdict::Problem => "problem",
    };
    let document = json!({
        "verdict": word(worst),
        "checks": findings.iter().map(|finding| json!({
            "check": finding.check,
            "verdict": word(finding.verdict),
            "says": finding.says,
            "advice": finding.advice,
        })).collect::<Vec<_>>(),
    });
    let mut lines = Vec::new();
    for Finding { check, verdict, says, advice } in findings {
        let mark = match verdict {
            Verdict::Fine => style("fine   ").green(),
            Verdict::Warning => style("warning").yellow(),
            Verdict::Problem => style("problem").red().bold(),
        };
        lines.push(format!("{mark}  {check:<10}  {says}"));
        lines.extend(advice.iter().map(|advice| format!("         {:<10}  {} {advice}", "", style("do:").cyan())));
    }
    printer.answer(&document, &lines);
    if worst == Verdict::Problem { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
