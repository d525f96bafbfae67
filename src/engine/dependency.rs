//! Following the end of a flow's member: who waits for it may be claimed, is skipped, or waits for more.
//!
//! A completion is followed edge by edge, each hop in a transaction of its own: the edge is counted in the group
//! of its downstream execution, the group is decided, and what was decided is done. The edge's document
//! says that it was counted, so a hop may be repeated. Only with the last hop, after all others, the completion is noted
//! as followed. A process may therefore die anywhere; whoever finds the completion next goes on where it stopped.
//!
//! A skipped execution has a completion of its own, which is followed in the same way: a cascade goes down one
//! level per completion. Locks are taken in the order edge, group, execution, attempt. An edge that is
//! staged but not applied is left alone: applying it looks at its upstream execution under the same lock.

use ff_core::backend::CompletionPayload;
use ff_core::contracts::{CascadeOutcome, ResolveDependencyArgs, ResolveDependencyOutcome};
use ff_core::engine_error::{EngineError, ValidationKind};
use ff_core::types::ExecutionId;

use crate::column::{ExecutionUuid, FlowUuid, PartitionNumber};
use crate::db::error::{Abort, unreadable};
use crate::db::{Dialect, Wakes};
use crate::engine::Engine;
use crate::engine::group::{Hop, HopState, Hopped, hop_on};
use crate::engine::policy::dependency::Ended;
use crate::engine::policy::filter::Asked;
use crate::engine::round::{Report, Round};
use crate::engine::seize::{Taking, is_held};
use crate::model::id::{corruption, exec_key, execution_id, invalid_input};
use crate::model::word::CompletionWord;
use crate::model::{document, edge as stored};
use crate::statements::{Statements, dependency, edge, execution};

/// How many forgotten completions one look takes up.
const FORGOTTEN_BATCH: i64 = 1_000;

/// What following a completion did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Followed {
    /// There is no such completion, or it was followed before.
    NoOp,
    /// It is followed now, along that many edges.
    Edges(usize),
}

/// Follows one completion to its last edge.
///
/// Precondition: the completion is committed. Effect: every execution that waits for it has counted it, and the
/// completion is noted as followed. Repeating it changes nothing and answers [`Followed::NoOp`].
///
/// # Errors
/// The first error of a hop, one that says more than that somebody holds a row if there is one, after the other edges
/// were followed; the completion then counts as forgotten.
pub(crate) async fn follow<D: Dialect>(
    engine: &Engine<D>,
    partition_key: PartitionNumber,
    event_id: i64,
    taking: Taking,
) -> Result<Followed, EngineError> {
    let params = dependency::DependencyCompletionReadParams { partition_key, event_id };
    match engine.db().read(params).await? {
        Some(completion) => follow_found(engine, partition_key, event_id, completion, taking).await,
        None => Ok(Followed::NoOp),
    }
}

/// The same for a completion of which it is not known whether its execution is a flow's member; one outside a
/// flow concerns nobody and is left as it is.
pub(crate) async fn follow_member<D: Dialect>(
    engine: &Engine<D>,
    partition_key: PartitionNumber,
    event_id: i64,
) -> Result<Followed, EngineError> {
    let params = dependency::DependencyCompletionReadParams { partition_key, event_id };
    match engine.db().read(params).await?.filter(|completion| completion.flow_id.is_some()) {
        Some(completion) => follow_found(engine, partition_key, event_id, completion, Taking::Waits).await,
        None => Ok(Followed::NoOp),
    }
}

async fn follow_found<D: Dialect>(
    engine: &Engine<D>,
    partition_key: PartitionNumber,
    event_id: i64,
    completion: dependency::DependencyCompletionReadRow,
    taking: Taking,
) -> Result<Followed, EngineError> {
    if completion.dispatched_at_ms.is_some() {
        return Ok(Followed::NoOp);
    }
    let hop = match (completion.flow_id, Ended::from_outcome(&completion.outcome)) {
        (Some(flow_id), Some(ended)) => Some((flow_id, ended)),
        _ => None,
    };
    let edges = match hop {
        Some((flow_id, _)) => {
            let params = edge::EdgeListOutgoingParams { partition_key, flow_id, node: completion.execution_id };
            engine.db().read(params).await?
        }
        None => Vec::new(),
    };
    let settled = match (hop, edges.split_last()) {
        (Some((flow_id, ended)), Some((last, others))) => {
            let to = |edge_id| Hop { partition_key, flow_id, edge_id, ended, now_ms: engine.now_ms(), taking };
            let mut failed = None;
            for row in others {
                worse(&mut failed, hop_once(engine, to(row.edge_id), None).await);
            }
            // The last hop notes in its transaction that the completion is followed, if it is.
            let followed = failed.is_none().then_some(event_id);
            let settled = worse(&mut failed, hop_once(engine, to(last.edge_id), followed).await);
            failed.map_or(Ok(settled), Err)?
        }
        _ => {
            let now_ms = engine.now_ms();
            engine.db().unit(dependency::DependencyCompletionSettleParams { now_ms, partition_key, event_id }).await?
        }
    };
    match settled {
        0 => Ok(Followed::NoOp),
        _ => Ok(Followed::Edges(edges.len())),
    }
}

/// Keeps the first error, or the first that says more than that somebody holds a row.
fn worse(failed: &mut Option<EngineError>, hopped: Result<u64, EngineError>) -> u64 {
    match hopped {
        Ok(settled) => settled,
        Err(error) => {
            if failed.as_ref().is_none_or(is_held) {
                *failed = Some(error);
            }
            0
        }
    }
}

/// Follows one edge, and notes the completion that is given as followed; answers how many completions were noted.
async fn hop_once<D: Dialect>(engine: &Engine<D>, hop: Hop, event_id: Option<i64>) -> Result<u64, EngineError> {
    let Hop { partition_key, flow_id, edge_id, now_ms, .. } = hop;
    let tell = move |hopped: &(Hopped, u64), wakes: &mut Wakes| hopped.0.tell(partition_key, flow_id, wakes);
    // A failure asks for more, and a sweep waits for nobody's row.
    let (_, settled) = if hop.ended == Ended::Success && hop.taking == Taking::Waits {
        let plain = dependency::DependencyHopParams { partition_key, flow_id, edge_id, event_id, now_ms };
        let counted = |row: dependency::DependencyHopRow| {
            (Hopped::counted(i64::from(row.ended_count)), u64::from(row.settled_event_id.is_some()))
        };
        transaction!(
            engine,
            "dependency_hop",
            plainly(plain, counted),
            [hop, event_id],
            |conn| { hop_and_settle::<D>(conn, hop, *event_id).await },
            |hopped, wakes| tell(hopped, wakes)
        )?
    } else {
        transaction!(
            engine,
            "dependency_hop",
            [hop, event_id],
            |conn| { hop_and_settle::<D>(conn, hop, *event_id).await },
            |hopped, wakes| tell(hopped, wakes)
        )?
    };
    Ok(settled)
}

/// Counts an edge, and notes the completion that is then followed; answers how many completions were noted, too.
async fn hop_and_settle<D: Dialect>(
    conn: &mut D::Connection,
    hop: &Hop,
    event_id: Option<i64>,
) -> Result<(Hopped, u64), Abort> {
    let Hop { partition_key, now_ms, .. } = *hop;
    let hopped = hop_on::<D>(conn, hop).await?;
    let settled = match event_id {
        Some(event_id) => {
            let settle = dependency::DependencyCompletionSettleParams { now_ms, partition_key, event_id };
            conn.dependency_completion_settle(&settle).await?
        }
        None => 0,
    };
    Ok((hopped, settled))
}

/// Follows the completion that a payload tells of, one level deep. A payload that no completion belongs to does
/// nothing; neither does one that was followed before.
///
/// # Errors
/// Those of [`follow`]. A completion that cannot be looked up is left to the reconciler.
pub(crate) async fn cascade<D: Dialect>(
    engine: &Engine<D>,
    payload: &CompletionPayload,
) -> Result<CascadeOutcome, EngineError> {
    let execution = exec_key(&payload.execution_id)?;
    let occurred_at_ms = payload.produced_at_ms.0;
    let params = dependency::DependencyCompletionFindParams { execution, occurred_at_ms };
    let found = match engine.db().read(params).await {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!(%error, execution = %payload.execution_id, "a completion was not looked up");
            None
        }
    };
    let Some(found) = found else {
        return Ok(CascadeOutcome::async_dispatched(0));
    };
    match follow(engine, execution.partition_key, found.event_id, Taking::Waits).await? {
        Followed::NoOp => Ok(CascadeOutcome::async_dispatched(0)),
        Followed::Edges(edges) => Ok(CascadeOutcome::async_dispatched(edges)),
    }
}

/// Counts one edge, whatever its upstream execution's row says.
///
/// Precondition: the edge is applied and joins the two executions. Effect: that of one hop of following the
/// completion, which then does not count the edge again. Repeating it answers `AlreadyResolved`.
///
/// # Errors
/// `Validation(InvalidInput)` for `resumable`, after which an execution goes on; `Validation(InvalidDependency)`
/// when the edge is not staged, not applied, or joins others; `Validation(Corruption)` when nobody counts the
/// edge, or more edges would have ended than there are.
pub(crate) async fn resolve<D: Dialect>(
    engine: &Engine<D>,
    args: &ResolveDependencyArgs,
) -> Result<ResolveDependencyOutcome, EngineError> {
    PartitionNumber::given(args.partition.index)?;
    let outcome = CompletionWord::from(args.upstream_outcome.clone());
    let Some(ended) = Ended::from_outcome(&outcome) else {
        return Err(invalid_input(format!("upstream_outcome: '{}' is not an end", args.upstream_outcome)));
    };
    let (partition_key, flow_id) = (engine.flow_partition(&args.flow_id), FlowUuid::from(&args.flow_id));
    let resolving = Resolving {
        hop: Hop {
            partition_key,
            flow_id,
            edge_id: args.edge_id.0,
            ended,
            now_ms: engine.given(args.now).0,
            taking: Taking::Waits,
        },
        upstream_eid: exec_key(&args.upstream_execution_id)?.execution_id,
        downstream_eid: exec_key(&args.downstream_execution_id)?.execution_id,
    };
    let hopped = transaction!(
        engine,
        "resolve_dependency",
        [resolving],
        |conn| { resolve_on::<D>(conn, resolving).await },
        |hopped, wakes| hopped.tell(partition_key, flow_id, wakes)
    )?;
    Ok(match (hopped.state, ended) {
        (HopState::AlreadyCounted, _) => ResolveDependencyOutcome::AlreadyResolved,
        (_, Ended::Success) => ResolveDependencyOutcome::Satisfied,
        _ => ResolveDependencyOutcome::Impossible,
    })
}

struct Resolving {
    hop: Hop,
    upstream_eid: ExecutionUuid,
    downstream_eid: ExecutionUuid,
}

async fn resolve_on<D: Dialect>(conn: &mut D::Connection, resolving: &Resolving) -> Result<Hopped, Abort> {
    let Resolving { hop, upstream_eid, downstream_eid } = resolving;
    let (partition_key, flow_id, edge_id) = (hop.partition_key, hop.flow_id, hop.edge_id);
    let params = edge::EdgeLockParams { partition_key, flow_id, edge_id };
    let found = conn.edge_lock(&params).await.map_err(|error| unreadable("ff_edge.policy", error))?;
    let refused = |detail: String| EngineError::Validation { kind: ValidationKind::InvalidDependency, detail };
    let Some(found) = found else {
        return Err(Abort::from(refused(format!("edge {edge_id} is not staged"))));
    };
    if (found.upstream_eid, found.downstream_eid) != (*upstream_eid, *downstream_eid) {
        let joins = format!("{} with {}", found.upstream_eid, found.downstream_eid);
        return Err(Abort::from(refused(format!("edge {edge_id} joins {joins}"))));
    }
    if !stored::is_awaited(&found.policy) {
        return Err(Abort::from(refused(format!("edge {edge_id} is not applied"))));
    }
    let hopped = hop_on::<D>(conn, hop).await?;
    match hopped.state {
        HopState::Nothing => Err(Abort::from(corruption(format!("ff_edge_group: no group for {downstream_eid}")))),
        HopState::AlreadyCounted => Ok(hopped),
        HopState::Counted { ended } => {
            let incoming = edge::EdgeCountIncomingParams { partition_key, flow_id, node: *downstream_eid };
            let edges = conn.edge_count_incoming(&incoming).await?.edges;
            if ended > edges {
                let detail = format!("ff_edge_group: {ended} of {edges} edges into {downstream_eid} ended");
                return Err(Abort::from(corruption(detail)));
            }
            Ok(hopped)
        }
    }
}

/// One round of the dependency sweep: [`follow_forgotten`] for completions that are older than the threshold.
pub(crate) async fn sweep<D: Dialect>(engine: &Engine<D>, round: &Round) -> Result<Report, EngineError> {
    follow_forgotten(engine, round, engine.now_ms().saturating_sub(round.stale_ms)).await
}

/// Follows completions that nobody has followed to the last edge: their process died, or a hop failed.
///
/// Takes those that were committed before `committed_before_ms` and pass the round's filter, the oldest first. One that
/// cannot be followed does not keep others waiting.
pub(crate) async fn follow_forgotten<D: Dialect>(
    engine: &Engine<D>,
    round: &Round,
    committed_before_ms: i64,
) -> Result<Report, EngineError> {
    let (filter, time) = (&round.filter, round.time());
    let (stored_tag, other_tag) = match &filter.instance_tag {
        Some((key, value)) if key == document::INSTANCE_TAG => (Some(value.clone()), None),
        other => (None, other.as_ref()),
    };
    let asked_tag = if other_tag.is_some() { Asked::of(filter) } else { Asked::default() };
    let mut report = Report::default();
    let mut after_event_id = 0;
    loop {
        let params = dependency::DependencyForgottenListParams {
            after_event_id,
            committed_before_ms,
            namespace: filter.namespace.as_ref().map(|namespace| namespace.as_str().to_owned()),
            instance_tag: stored_tag.clone(),
            tag_key: asked_tag.tag_key.clone(),
            tag_value: asked_tag.tag_value.clone(),
            page_size: FORGOTTEN_BATCH,
        };
        let page = engine.db().read(params).await?;
        for row in &page {
            after_event_id = row.event_id;
            if let Some((key, value)) = other_tag {
                let id = execution_id(row.execution.partition_key, row.execution.execution_id)?;
                if !has_tag(engine, &id, key, value).await? {
                    continue;
                }
            }
            let followed = follow(engine, row.execution.partition_key, row.event_id, Taking::Seizes).await;
            report.count(followed.map(|followed| matches!(followed, Followed::Edges(_))));
        }
        let page_full = i64::try_from(page.len()).is_ok_and(|rows| rows == FORGOTTEN_BATCH);
        if !page_full || time.is_over() {
            return Ok(report);
        }
    }
}

async fn has_tag<D: Dialect>(
    engine: &Engine<D>,
    id: &ExecutionId,
    key: &str,
    value: &str,
) -> Result<bool, EngineError> {
    let params = execution::ExecutionFieldsReadParams { execution: exec_key(id)? };
    let row = engine.db().read(params).await?;
    Ok(row.is_some_and(|row| document::tag_text(&row.raw_fields, key).as_deref() == Some(value)))
}
