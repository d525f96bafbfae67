//! What is done to many executions: run again, ended, forgotten.

use std::process::ExitCode;

use ff_backend_sql::manage::{ListedState, Manage};
use ff_core::contracts::{CancelExecutionArgs, ReplayExecutionArgs};
use ff_core::engine_error::EngineError;
use ff_core::types::{CancelSource, ExecutionId, TimestampMs};
use serde_json::json;

use crate::arguments::{Which, now_ms};
use crate::failure::{Failure, chain};
use crate::look;
use crate::print::{Printer, counted};

/// How many executions are read or forgotten at once.
const PAGE: usize = 500;

/// How many refusals are told one by one.
const TOLD: usize = 10;

/// What came of it.
#[derive(Default)]
struct Outcome {
    done: u64,
    refused: Vec<(ExecutionId, String)>,
}

/// What a command does, in words: "cancel", "cancelled".
struct Words {
    verb: &'static str,
    past: &'static str,
}

/// `retry`.
pub(crate) async fn retry(backend: &dyn Manage, which: &Which, printer: &Printer) -> Result<ExitCode, Failure> {
    let found = chosen(backend, which, |state| state == ListedState::Failed, printer).await?;
    let words = Words { verb: "retry", past: "can be claimed again" };
    if which.dry_run {
        return Ok(told(&found, &words, printer));
    }
    let replay = async |execution_id| {
        let args = ReplayExecutionArgs { execution_id, now: TimestampMs::from_millis(now_ms()) };
        backend.replay_execution(args).await.map(drop)
    };
    Ok(each(found, "retrying", printer, replay).await.print(&words, printer))
}

/// `cancel`.
pub(crate) async fn cancel(
    backend: &dyn Manage,
    which: &Which,
    reason: &str,
    printer: &Printer,
) -> Result<ExitCode, Failure> {
    let found = chosen(backend, which, |state| !state.has_ended(), printer).await?;
    let words = Words { verb: "cancel", past: "cancelled" };
    if let Some(nothing) = nothing_done(&found, which, "Cancel", &words, printer)? {
        return Ok(nothing);
    }
    let end = async |execution_id| {
        let args = CancelExecutionArgs {
            execution_id,
            reason: reason.to_owned(),
            source: CancelSource::OperatorOverride,
            lease_id: None,
            lease_epoch: None,
            attempt_id: None,
            now: TimestampMs::from_millis(now_ms()),
        };
        backend.cancel_execution(args).await.map(drop)
    };
    Ok(each(found, "cancelling", printer, end).await.print(&words, printer))
}

/// `prune`.
pub(crate) async fn prune(backend: &dyn Manage, which: &Which, printer: &Printer) -> Result<ExitCode, Failure> {
    let found = chosen(backend, which, ListedState::has_ended, printer).await?;
    let words = Words { verb: "forget", past: "forgotten" };
    if let Some(nothing) = nothing_done(&found, which, "Forget", &words, printer)? {
        return Ok(nothing);
    }
    let bar = printer.progress("forgetting", Some(found.len() as u64));
    let mut outcome = Outcome::default();
    for page in found.chunks(PAGE) {
        outcome.done += u64::from(backend.discard(page).await?);
        bar.inc(page.len() as u64);
    }
    bar.finish_and_clear();
    let left = (found.len() as u64).saturating_sub(outcome.done);
    if left > 0 && !printer.json {
        eprintln!("{} not: it has not ended, is not there, or somebody holds it at this moment", executions(left));
    }
    Ok(outcome.print(&words, printer))
}

/// The executions that are meant: those that are named, or all with the properties that are in a state that fits.
async fn chosen(
    backend: &dyn Manage,
    which: &Which,
    fits: impl Fn(ListedState) -> bool,
    printer: &Printer,
) -> Result<Vec<ExecutionId>, Failure> {
    let filter = which.filter.asked();
    if !which.ids.is_empty() {
        if !filter.is_open() || which.all {
            return Err(Failure::new("ids and properties exclude each other").with("give one of them"));
        }
        return which.ids.iter().map(|text| look::id(text)).collect();
    }
    if filter.is_open() && !which.all {
        return Err(Failure::new("it is not said which executions are meant")
            .with("give their ids, properties such as `--lane mail --older-than 7d`, or `--all`"));
    }
    let bar = printer.progress("looking", None);
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = backend.list_matching(&filter, after.as_ref(), PAGE).await?;
        found.extend(
            page.executions.into_iter().filter(|execution| fits(execution.state)).map(|execution| execution.id),
        );
        bar.set_position(found.len() as u64);
        after = page.next;
        if after.is_none() {
            bar.finish_and_clear();
            return Ok(found);
        }
    }
}

/// What would be done.
fn told(found: &[ExecutionId], words: &Words, printer: &Printer) -> ExitCode {
    let ids: Vec<String> = found.iter().map(ToString::to_string).collect();
    let mut lines = vec![format!("{} to {}", executions(found.len() as u64), words.verb)];
    lines.extend(ids.iter().take(TOLD).map(|id| format!("  {id}")));
    if ids.len() > TOLD {
        lines.push(format!("  and {} more", ids.len() - TOLD));
    }
    printer.answer(&json!({ "done": 0, "would": ids }), &lines);
    ExitCode::SUCCESS
}

/// The end of a command that changes nothing: it is only tried, nothing fits, or nobody agrees to what cannot be undone.
fn nothing_done(
    found: &[ExecutionId],
    which: &Which,
    question: &str,
    words: &Words,
    printer: &Printer,
) -> Result<Option<ExitCode>, Failure> {
    if which.dry_run || found.is_empty() {
        return Ok(Some(told(found, words, printer)));
    }
    if which.yes || printer.agrees(&format!("{question} {}?", executions(found.len() as u64)))? {
        return Ok(None);
    }
    printer.answer(&json!({ "done": 0, "refused": [] }), &["nothing was done".to_owned()]);
    Ok(Some(ExitCode::FAILURE))
}

/// Does something to one execution after the other; what is refused keeps nothing else from being done.
async fn each(
    found: Vec<ExecutionId>,
    doing: &str,
    printer: &Printer,
    act: impl AsyncFn(ExecutionId) -> Result<(), EngineError>,
) -> Outcome {
    let bar = printer.progress(doing, Some(found.len() as u64));
    let mut outcome = Outcome::default();
    for id in found {
        match act(id.clone()).await {
            Ok(()) => outcome.done += 1,
            Err(error) => outcome.refused.push((id, chain(&error))),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    outcome
}

impl Outcome {
    fn print(&self, words: &Words, printer: &Printer) -> ExitCode {
        let refused = self.refused.iter().map(|(id, why)| json!({ "id": id.to_string(), "why": why }));
        let document = json!({ "done": self.done, "refused": refused.collect::<Vec<_>>() });
        let mut lines = vec![format!("{} {}", executions(self.done), words.past)];
        if !self.refused.is_empty() {
            lines.push(format!("{} not:", executions(self.refused.len() as u64)));
            lines.extend(self.refused.iter().take(TOLD).map(|(id, why)| format!("  {id}: {why}")));
        }
        printer.answer(&document, &lines);
        if self.refused.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

fn executions(count: u64) -> String {
    counted(count, "execution")
}
