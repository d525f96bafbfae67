//! The steps of the background sweeps.

use std::time::Duration;

use ff_backend_sql::FullScannerConfig;
use ff_core::state::PublicState;
use ff_core::types::TimestampMs;

use crate::harness::{LEASE_MS, LOST, PATIENCE, T0, on_every_database, payload, refusal};

on_every_database! {
    async fn delayed_executions_are_promoted_without_a_claim(h) {
        let id = h.create_with(|args| args.delay_until = Some(TimestampMs::from_millis(T0 + 1_000))).await;
        assert_eq!(h.sweep("delayed_promoter").await, (0, 0));
        h.pass_ms(1_000);
        assert_eq!(h.sweep("delayed_promoter").await, (1, 0));
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), Some(PublicState::Waiting));
        assert_eq!(h.core(&id, "blocking_reason").await, "waiting_for_worker");
        assert_eq!(h.sweep("delayed_promoter").await, (0, 0));
    }

    async fn the_defaults_bring_a_crashed_workers_execution_back(h) {
        let (id, crashed) = h.created_and_claimed().await;
        h.pass_ms(LEASE_MS + 1);
        assert!(h.start_sweeps(FullScannerConfig::default()));
        assert!(!h.start_sweeps(FullScannerConfig::default()), "they run");
        let claimed = tokio::time::timeout(PATIENCE, async {
            loop {
                match h.claim("worker-b").await {
                    Some(handle) => break handle,
                    None => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
        })
        .await
        .expect("the sweep comes");
        assert_eq!(payload(&claimed).execution_id, id);
        assert_eq!(refusal(h.backend.complete(&crashed, None).await), LOST);
        h.backend.complete(&claimed, None).await.unwrap();
        h.backend.shutdown_prepare(PATIENCE).await.unwrap();
    }
}
