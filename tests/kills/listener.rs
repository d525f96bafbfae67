//! A subscription across a crash of the server: what another process does afterwards is heard.

use cargo_diglot::postgres::Server;
use ff_core::backend::ScannerFilter;
use ff_core::engine_error::EngineError;
use ff_core::stream_events::LeaseHistoryEvent;
use ff_core::stream_subscribe::StreamCursor;
use ff_core::types::ExecutionId;
use futures_util::{Stream, StreamExt as _};
use tokio::time::timeout;

use crate::audit::wait_for_the_server;
use crate::harness::{Harness, PATIENCE, payload};

type Item = Result<LeaseHistoryEvent, EngineError>;

async fn next(events: &mut (impl Stream<Item = Item> + Unpin)) -> Item {
    timeout(PATIENCE, events.next()).await.expect("something comes").expect("the stream goes on")
}

/// Creates an execution and claims it through another handle, as another process would.
async fn claimed_elsewhere(h: &Harness) -> ExecutionId {
    let id = h.create().await;
    let handle = h.claim("elsewhere").await.expect("the execution is claimed");
    assert_eq!(payload(&handle).execution_id, id);
    h.backend.complete(&handle, None).await.expect("it is completed");
    id
}

/// Hears of a lease before a crash, then of the crash, then of a lease after it.
pub(crate) async fn hears_across_a_crash(h: &Harness, server: &mut Server) {
    let listening = h.another_handle().await;
    let cursor = StreamCursor::empty();
    let mut events = listening.subscribe_lease_history(cursor, &ScannerFilter::new()).await.expect("a subscription");
    let before = claimed_elsewhere(h).await;
    for _ in 0..2 {
        assert_eq!(next(&mut events).await.expect("an event").execution_id(), &before);
    }
    tokio::task::block_in_place(|| server.crash_and_restart()).expect("the server comes back");
    let told = next(&mut events).await;
    assert!(matches!(told, Err(EngineError::StreamDisconnected { .. })), "the loss is told first: {told:?}");
    wait_for_the_server(h).await;
    let after = claimed_elsewhere(h).await;
    assert_eq!(next(&mut events).await.expect("an event").execution_id(), &after);
}
