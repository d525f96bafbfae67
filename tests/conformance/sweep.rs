//! The steps of the background sweeps.

use std::time::Duration;

use ff_backend_sql::FullScannerConfig;
use ff_core::state::PublicState;
use ff_core::types::TimestampMs;

use crate::harness::{T0, on_every_database};

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

    async fn the_default_configuration_runs_every_sweep(h) {
        let config = FullScannerConfig::default();
        assert_eq!(config.lease_expiry_interval, Duration::from_millis(1_500));
        assert_eq!(h.sweep_with("worker_registry_ttl_sweep", &config).await, (0, 0));
    }
}
