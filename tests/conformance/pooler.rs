//! What is not known to have failed is not done again: something between the program and its server, a pooler say,
//! loses the answer to what was committed, and says so in its own words or not at all.

use std::sync::Mutex;

use ff_backend_sql::FullScannerConfig;
use ff_core::backend::{Frame, FrameKind, Handle};
use ff_core::contracts::StreamCursor;
use ff_core::engine_error::EngineError;
use ff_core::types::AttemptIndex;
use futures_util::future::join_all;

use crate::every_method::{self, Watch};
use crate::harness::{Harness, Kind, LEASE_MS, payload, run};
use crate::proxy::{Instead, Proxy};
use crate::sessions::url;
use crate::together::claimed;

/// What poolers and proxies say when the server is gone, or when they go themselves. The last ones are codes by which a
/// server itself says that nothing happened.
const INSTEAD: [Instead; 8] = [
    Instead::Cut,
    Instead::Error("FATAL", "08P01"),
    Instead::Error("ERROR", "08006"),
    Instead::Error("FATAL", "58000"),
    Instead::Error("FATAL", "XX000"),
    Instead::Error("FATAL", "57P01"),
    Instead::Error("FATAL", "57P05"),
    Instead::Error("FATAL", "25P04"),
];

/// The methods that go on with the next of many things, and tell what they lost in their answer about it alone, or in the
/// log, where they did it for everybody on their way.
const TELL_ELSEWHERE: [&str; 4] =
    ["rotate_waitpoint_hmac_secret_all", "reconcile_quota_counters", "scan_eligible_executions", "claim_for_worker"];

/// A backend behind a proxy, on the database of a test; none where it is spread over a cluster, whose tables take no
/// triggers from anybody.
async fn behind_proxy(h: &Harness) -> Option<(Harness, Proxy)> {
    if h.is_spread() {
        return None;
    }
    let proxy = Proxy::before(&url(h)).await;
    Some((Harness::open(proxy.url.clone()).await, proxy))
}

fn is_unknown<T>(answer: &Result<T, EngineError>) -> bool {
    matches!(answer, Err(EngineError::Transport { .. }))
}

/// Loses the answer to what each method writes first.
struct Losing<'a> {
    proxy: &'a Proxy,
    instead: Instead,
    /// Of each method whose answer was lost, what it did nonetheless.
    found: Mutex<Vec<Option<String>>>,
}

impl Watch for Losing<'_> {
    async fn begin(&self) {
        self.proxy.lose_next(self.instead);
    }

    async fn end(&self, method: &'static str, answer: &Result<(), EngineError>) {
        if let Some(written) = self.proxy.written_since_lost() {
            let is_told = is_unknown(answer) && written == 0 || TELL_ELSEWHERE.contains(&method);
            let told = (!is_told).then(|| format!("{method} ({answer:?}, wrote {written} times more)"));
            self.found.lock().expect("nobody panics").push(told);
        }
    }
}

#[tokio::test]
async fn what_a_method_committed_is_not_done_again() {
    run(Kind::Postgres, |h| async move {
        let Some((behind, proxy)) = behind_proxy(&h).await else { return };
        let mut again = Vec::new();
        for instead in INSTEAD {
            let losing = Losing { proxy: &proxy, instead, found: Mutex::default() };
            every_method::called(&behind, &losing).await;
            let found = losing.found.into_inner().expect("nobody panics");
            assert!(found.len() > 50, "{instead:?}: only {} methods write", found.len());
            again.extend(found.into_iter().flatten().map(|method| format!("{instead:?}: {method}")));
        }
        assert!(again.is_empty(), "went on after what they had committed: {again:#?}");
    })
    .await;
}

async fn appended(h: &Harness, handle: &Handle) -> usize {
    let id = payload(handle).execution_id;
    let read = h.backend.read_stream(&id, AttemptIndex::new(0), StreamCursor::Start, StreamCursor::End, 100).await;
    read.expect("it is read").frames.len()
}

#[tokio::test]
async fn what_goes_together_is_not_done_again() {
    run(Kind::Postgres, |h| async move {
        let Some((behind, proxy)) = behind_proxy(&h).await else { return };
        let handles = claimed(&behind, 20).await;
        for (round, instead) in INSTEAD.into_iter().enumerate() {
            proxy.lose_next(instead);
            let frame = || Frame::new(b"bytes".to_vec(), FrameKind::Stdout);
            let answers = join_all(handles.iter().map(|handle| behind.backend.append_frame(handle, frame()))).await;
            assert!(answers.iter().any(is_unknown), "{instead:?}: an answer was lost");
            assert!(answers.iter().all(|answer| answer.is_ok() || is_unknown(answer)), "{instead:?}: {answers:?}");
            proxy.written_since_lost().expect("an answer was lost");
            for handle in &handles {
                assert_eq!(appended(&h, handle).await, round + 1, "{instead:?}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn what_a_sweep_committed_is_told_as_unknown() {
    run(Kind::Postgres, |h| async move {
        let Some((behind, proxy)) = behind_proxy(&h).await else { return };
        for instead in INSTEAD {
            let (id, _) = behind.created_and_claimed().await;
            behind.pass_ms(LEASE_MS + 1);
            proxy.lose_next(instead);
            let swept = behind.try_sweep("lease_expiry", &FullScannerConfig::default()).await;
            proxy.written_since_lost().expect("the sweep wrote");
            assert!(!matches!(swept, Ok((_, 0))), "{instead:?}: {swept:?}");
            let expired = h.lease_events(&id).await.into_iter().filter(|event| event == "expired").count();
            assert_eq!(expired, 1, "{instead:?}");
            every_method::empty_lane(&behind).await;
        }
    })
    .await;
}
