//! What there is: counts, lists, one execution.

use std::collections::BTreeMap;
use std::process::ExitCode;

use console::{StyledObject, style};
use ff_backend_sql::manage::{ListedExecution, ListedState, Manage, PauseTarget, StateCount};
use ff_core::types::ExecutionId;
use serde_json::{Value, json};

use crate::arguments::Filter;
use crate::connect::{self, Kind, Opened};
use crate::failure::Failure;
use crate::pause;
use crate::print::{Printer, ago, counted, table};

/// `status`.
pub(crate) async fn status(opened: &Opened, printer: &Printer) -> Result<ExitCode, Failure> {
    let backend = opened.backend();
    let now_ms = time_ms(backend).await?;
    let counts = backend.count_states().await?;
    let pauses = backend.list_pauses().await?;
    let schema = connect::schema(opened).await?;
    let mut states: BTreeMap<ListedState, (i64, i64)> = BTreeMap::new();
    for StateCount { state, depth, oldest_at_ms, .. } in &counts {
        let (sum, oldest) = states.entry(*state).or_insert((0, i64::MAX));
        *sum = sum.saturating_add(*depth);
        *oldest = (*oldest).min(*oldest_at_ms);
    }
    let database = match opened.kind {
        Kind::Sqlite => "sqlite",
        Kind::Postgres => "postgres",
    };
    let document = json!({
        "database": database,
        "time_ms": now_ms,
        "schema_versions": schema.applied,
        "states": states.iter().map(|(state, (depth, oldest_at_ms))| {
            (state.to_string(), json!({ "depth": depth, "oldest_at_ms": oldest_at_ms }))
        }).collect::<serde_json::Map<_, _>>(),
        "paused": pauses.iter().map(pause::document).collect::<Vec<_>>(),
    });
    let mut lines = vec![format!("{database}, schema current ({})", counted(schema.applied as u64, "version"))];
    if !schema.unknown.is_empty() {
        lines.push(format!("the database has versions of a newer program: {:?}", schema.unknown));
    }
    let rows: Vec<_> = states
        .iter()
        .map(|(state, (depth, oldest))| vec![colored(*state).to_string(), depth.to_string(), ago(*oldest, now_ms)])
        .collect();
    if rows.is_empty() {
        lines.push("no executions".to_owned());
    } else {
        lines.extend(table(&["STATE", "EXECUTIONS", "OLDEST CREATED"], &rows));
    }
    lines.extend(pause::lines(&pauses, now_ms));
    printer.answer(&document, &lines);
    Ok(ExitCode::SUCCESS)
}

/// `lanes`.
pub(crate) async fn lanes(backend: &dyn Manage, printer: &Printer) -> Result<ExitCode, Failure> {
    let now_ms = time_ms(backend).await?;
    let (counts, queues) = (backend.count_states().await?, backend.count_queues().await?);
    let mut pauses = backend.list_pauses().await?;
    pauses.retain(|pause| matches!(pause.target, PauseTarget::Lane(_)));
    let mut lanes: BTreeMap<String, BTreeMap<ListedState, i64>> = BTreeMap::new();
    let mut after = None;
    loop {
        let page = backend.list_lanes(after, 500).await?;
        for lane in page.lanes {
            lanes.entry(lane.to_string()).or_default();
        }
        after = page.next_cursor;
        if after.is_none() {
            break;
        }
    }
    for count in &counts {
        let states = lanes.entry(count.lane.to_string()).or_default();
        *states.entry(count.state).or_default() += count.depth;
    }
    let oldest = |lane: &str| {
        let waiting = queues.iter().find(|queue| queue.lane.as_str() == lane && queue.state == ListedState::Waiting);
        waiting.map(|queue| queue.oldest_at_ms)
    };
    let document: Vec<Value> = lanes
        .iter()
        .map(|(lane, states)| {
            let states: serde_json::Map<_, _> =
                states.iter().map(|(state, depth)| (state.to_string(), json!(depth))).collect();
            let pause =
                pauses.iter().find(|pause| matches!(&pause.target, PauseTarget::Lane(held) if held.as_str() == lane));
            let pause = pause.map(pause::document);
            json!({ "lane": lane, "oldest_waiting_at_ms": oldest(lane), "states": states, "pause": pause })
        })
        .collect();
    let shown = [
        ListedState::Waiting,
        ListedState::Paused,
        ListedState::Delayed,
        ListedState::RateLimited,
        ListedState::Active,
        ListedState::Suspended,
        ListedState::Failed,
    ];
    let rows: Vec<Vec<String>> = lanes
        .iter()
        .map(|(lane, states)| {
            let depth = |state: &ListedState| states.get(state).copied().unwrap_or(0).to_string();
            let ended = states.iter().filter(|(state, _)| state.has_ended() && **state != ListedState::Failed);
            let ended: i64 = ended.map(|(_, depth)| depth).sum();
            let waits = oldest(lane).map_or("-".to_owned(), |at_ms| ago(at_ms, now_ms));
            let cells = std::iter::once(lane.clone()).chain(shown.iter().map(depth));
            cells.chain([ended.to_string(), waits]).collect()
        })
        .collect();
    let headings =
        ["LANE", "WAITING", "PAUSED", "DELAYED", "LIMITED", "ACTIVE", "SUSPENDED", "FAILED", "ENDED", "OLDEST WAITS"];
    let mut lines = if rows.is_empty() { vec!["no lanes".to_owned()] } else { table(&headings, &rows) };
    lines.extend(pause::lines(&pauses, now_ms));
    printer.answer(&json!(document), &lines);
    Ok(ExitCode::SUCCESS)
}

/// `list`.
pub(crate) async fn list(
    backend: &dyn Manage,
    filter: &Filter,
    limit: usize,
    after: Option<&str>,
    printer: &Printer,
) -> Result<ExitCode, Failure> {
    let after = after.map(id).transpose()?;
    let page = backend.list_matching(&filter.asked(), after.as_ref(), limit.max(1)).await?;
    let now_ms = time_ms(backend).await?;
    let document = json!({
        "executions": page.executions.iter().map(document).collect::<Vec<_>>(),
        "next": page.next.as_ref().map(ToString::to_string),
    });
    let rows: Vec<Vec<String>> = page
        .executions
        .iter()
        .map(|execution| {
            vec![
                execution.id.to_string(),
                execution.lane.to_string(),
                colored(execution.state).to_string(),
                ago(execution.created_at_ms, now_ms),
                execution.attempts.to_string(),
                execution.crashes.to_string(),
                execution.kind.clone().unwrap_or_default(),
                execution.last_failure.clone().unwrap_or_default(),
            ]
        })
        .collect();
    let headings = ["ID", "LANE", "STATE", "CREATED", "ATTEMPTS", "CRASHES", "KIND", "LAST FAILURE"];
    let mut lines = if rows.is_empty() { vec!["nothing".to_owned()] } else { table(&headings, &rows) };
    if let Some(next) = &page.next {
        lines.push(format!("more may follow: --after '{next}'"));
    }
    printer.answer(&document, &lines);
    Ok(ExitCode::SUCCESS)
}

/// `show`.
pub(crate) async fn show(backend: &dyn Manage, text: &str, printer: &Printer) -> Result<ExitCode, Failure> {
    let id = id(text)?;
    let unknown = || Failure::new(format!("there is no execution {id}")).with("`ff-sql list` shows those there are");
    let found = backend.describe_execution(&id).await?.ok_or_else(unknown)?;
    let info = backend.read_execution_info(&id).await?.ok_or_else(unknown)?;
    let names = ["crash_count", "retry_count", "last_failure_message", "required_capabilities", "eligibility_state"];
    let fields = backend.read_exec_core_fields(partition(&id), &id, &names).await?;
    let field = |name: &str| fields.get(name).cloned().flatten();
    let now_ms = time_ms(backend).await?;
    let mut pauses = backend.list_pauses().await?;
    pauses.retain(|pause| match &pause.target {
        PauseTarget::Lane(lane) => *lane == found.lane_id,
        PauseTarget::Flow(flow) => found.flow_id.as_ref() == Some(flow),
    });
    let lease = found.current_lease.as_ref().map(|lease| {
        json!({
            "worker": lease.worker_instance_id.to_string(),
            "epoch": lease.lease_epoch.0,
            "expires_at_ms": lease.expires_at.0,
        })
    });
    let document = json!({
        "id": id.to_string(),
        "lane": found.lane_id.to_string(),
        "flow": found.flow_id.as_ref().map(ToString::to_string),
        "namespace": found.namespace.to_string(),
        "kind": info.execution_kind,
        "state": found.public_state.as_str(),
        "state_vector": info.state_vector,
        "waits_for": found.blocking_reason,
        "waits_detail": found.blocking_detail,
        "priority": info.priority,
        "capabilities": field("required_capabilities"),
        "created_at_ms": found.created_at.0,
        "started_at_ms": info.started_at,
        "ended_at_ms": info.completed_at,
        "attempts": found.total_attempt_count,
        "crashes": field("crash_count").unwrap_or_else(|| "0".to_owned()),
        "retries": field("retry_count").unwrap_or_else(|| "0".to_owned()),
        "last_failure": field("last_failure_message"),
        "lease": lease,
        "paused": pauses.iter().map(pause::document).collect::<Vec<_>>(),
        "waitpoint": found.current_waitpoint.as_ref().map(ToString::to_string),
        "tags": found.tags,
    });
    let time = |text: &Option<String>| {
        let at_ms = text.as_ref().and_then(|text| text.parse().ok());
        at_ms.map_or("-".to_owned(), |at_ms: i64| format!("{} ago", ago(at_ms, now_ms)))
    };
    let mut lines = Vec::new();
    let mut say = |name: &str, what: String| lines.push(format!("{}  {what}", style(format!("{name:>12}")).bold()));
    say("execution", id.to_string());
    say("state", format!("{} ({})", found.public_state.as_str(), field("eligibility_state").unwrap_or_default()));
    say("lane", found.lane_id.to_string());
    if let Some(flow) = &found.flow_id {
        say("flow", flow.to_string());
    }
    for pause in &pauses {
        say("held back", format!("{} is {}", pause.target, pause::since(pause, now_ms)));
    }
    say("kind", info.execution_kind.clone());
    say("requires", field("required_capabilities").filter(|all| !all.is_empty()).unwrap_or_else(|| "-".to_owned()));
    if let Some(reason) = &found.blocking_reason {
        let detail = found.blocking_detail.as_ref().filter(|detail| !detail.is_empty());
        say("waits for", detail.map_or(reason.clone(), |detail| format!("{reason}: {detail}")));
    }
    match &found.current_lease {
        Some(lease) => say(
            "worker",
            format!(
                "{}, lease {}",
                lease.worker_instance_id,
                match lease.expires_at.0 {
                    at_ms if at_ms > now_ms => format!("ends {}", ago(at_ms, now_ms)),
                    at_ms => style(format!("ran out {} ago", ago(at_ms, now_ms))).red().to_string(),
                }
            ),
        ),
        None => say("worker", "-".to_owned()),
    }
    say("created", format!("{} ago", ago(found.created_at.0, now_ms)));
    say("started", time(&info.started_at));
    say("ended", time(&info.completed_at));
    say("attempts", found.total_attempt_count.to_string());
    say("crashes", field("crash_count").unwrap_or_else(|| "0".to_owned()));
    if let Some(failure) = field("last_failure_message") {
        say("last failure", failure);
    }
    for (key, value) in &found.tags {
        say("tag", format!("{key} = {value}"));
    }
    printer.answer(&document, &lines);
    Ok(ExitCode::SUCCESS)
}

/// The partition of an execution's rows.
fn partition(id: &ExecutionId) -> ff_core::partition::Partition {
    ff_core::partition::Partition { family: ff_core::partition::PartitionFamily::Flow, index: id.partition() }
}

/// What the database's clock says.
pub(crate) async fn time_ms(backend: &dyn Manage) -> Result<i64, Failure> {
    Ok(i64::try_from(backend.server_time_ms().await?).unwrap_or(i64::MAX))
}

/// Reads an id.
pub(crate) fn id(text: &str) -> Result<ExecutionId, Failure> {
    ExecutionId::parse(text).map_err(|error| {
        Failure::new(format!("`{text}` is no execution's id: {error}"))
            .with("write it as `ff-sql list` shows it, in quotes: '{fp:7}:0192c5f2-…'")
    })
}

/// An execution of a list as JSON.
pub(crate) fn document(execution: &ListedExecution) -> Value {
    json!({
        "id": execution.id.to_string(),
        "lane": execution.lane.to_string(),
        "flow": execution.flow.as_ref().map(ToString::to_string),
        "state": execution.state.as_str(),
        "waits_for": execution.waits_for,
        "kind": execution.kind,
        "namespace": execution.namespace,
        "capabilities": execution.capabilities,
        "priority": execution.priority,
        "created_at_ms": execution.created_at_ms,
        "ended_at_ms": execution.ended_at_ms,
        "due_at_ms": execution.due_at_ms,
        "attempts": execution.attempts,
        "crashes": execution.crashes,
        "retries": execution.retries,
        "last_failure": execution.last_failure,
    })
}

/// A state in its colour.
fn colored(state: ListedState) -> StyledObject<&'static str> {
    let word = style(state.as_str());
    match state {
        ListedState::Failed | ListedState::Expired => word.red(),
        ListedState::Paused | ListedState::RateLimited => word.yellow(),
        ListedState::Active => word.cyan(),
        ListedState::Completed => word.green(),
        _ => word,
    }
}
