//! What is held back: lanes and flows whose work nobody claims.

use std::process::ExitCode;

use ff_backend_sql::manage::{Manage, Pause, PauseTarget};
use ff_core::engine_error::EngineError;
use serde_json::{Value, json};

use crate::arguments::Held;
use crate::failure::Failure;
use crate::print::{Printer, ago};

/// `pause`.
pub(crate) async fn pause(
    backend: &dyn Manage,
    held: &Held,
    reason: &str,
    printer: &Printer,
) -> Result<ExitCode, Failure> {
    let target = target(held)?;
    let is_new = backend.pause(&target, reason).await.map_err(|error| unknown(error, &target))?;
    let line = if is_new {
        format!(
            "{target} is paused: nobody claims its work, what runs goes on; `ff-sql resume {}` ends it",
            flag(&target)
        )
    } else {
        format!("{target} was paused already")
    };
    answer(&target, is_new, line, printer)
}

/// `resume`.
pub(crate) async fn resume(backend: &dyn Manage, held: &Held, printer: &Printer) -> Result<ExitCode, Failure> {
    let target = target(held)?;
    let was_paused = backend.resume(&target).await?;
    let line = if was_paused { format!("{target} goes on") } else { format!("{target} was not paused") };
    answer(&target, was_paused, line, printer)
}

fn target(held: &Held) -> Result<PauseTarget, Failure> {
    held.target().ok_or_else(|| Failure::new("it is not said what is meant").with("give `--lane` or `--flow`"))
}

/// Why something cannot be paused.
fn unknown(error: EngineError, target: &PauseTarget) -> Failure {
    match (&error, target) {
        (EngineError::NotFound { .. }, PauseTarget::Lane(_)) => {
            Failure::new(format!("there is no {target}")).with("`ff-sql lanes` shows those there are")
        }
        (EngineError::NotFound { .. }, PauseTarget::Flow(_)) => {
            Failure::new(format!("there is no {target}")).with("`ff-sql show ID` names the flow of an execution")
        }
        _ => error.into(),
    }
}

fn answer(target: &PauseTarget, is_changed: bool, line: String, printer: &Printer) -> Result<ExitCode, Failure> {
    let mut document = named(target);
    document["changed"] = json!(is_changed);
    printer.answer(&document, &[line]);
    Ok(ExitCode::SUCCESS)
}

fn named(target: &PauseTarget) -> Value {
    match target {
        PauseTarget::Lane(lane) => json!({ "lane": lane.to_string() }),
        PauseTarget::Flow(flow) => json!({ "flow": flow.to_string() }),
    }
}

/// How the command line says which.
pub(crate) fn flag(target: &PauseTarget) -> String {
    match target {
        PauseTarget::Lane(lane) => format!("--lane {lane}"),
        PauseTarget::Flow(flow) => format!("--flow {flow}"),
    }
}

/// A pause as JSON.
pub(crate) fn document(pause: &Pause) -> Value {
    let mut document = named(&pause.target);
    document["since_ms"] = json!(pause.since_ms);
    document["reason"] = json!(pause.reason);
    document
}

/// What is held back, a line each.
pub(crate) fn lines(pauses: &[Pause], now_ms: i64) -> Vec<String> {
    pauses.iter().map(|pause| format!("{} is {}", pause.target, since(pause, now_ms))).collect()
}

/// Since when, and why.
pub(crate) fn since(pause: &Pause, now_ms: i64) -> String {
    format!("paused since {} ago: {}", ago(pause.since_ms, now_ms), pause.reason)
}
