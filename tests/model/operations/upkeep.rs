//! The sweeps, and the steps of sweeps that callers take.

use std::time::Duration;

use ff_backend_sql::FullScannerConfig;
use ff_core::backend::ScannerFilter;
use ff_core::engine_backend::ExpirePhase;
use ff_core::types::LaneId;

use super::operations;
use crate::numbers::Numbers;
use crate::side::{lane, namespace, partition_of, some_partition};

/// All but the one that asks the server's own clock what is old.
const SWEEPS: [&str; 15] = [
    "attempt_timeout",
    "lease_expiry",
    "delayed_promoter",
    "suspension_timeout",
    "execution_deadline",
    "edge_cancel_dispatcher",
    "edge_cancel_reconciler",
    "grant_expiry",
    "index_reconciler",
    "budget_reconciler",
    "budget_reset",
    "quota_reconciler",
    "worker_registry_ttl_sweep",
    "growth",
    "retention_trimmer",
];

operations! {
    60 sweep: |s, n| {
        // The first ones matter most, the last ones forget.
        let name = if n.one_in(4) { n.of(SWEEPS) } else { SWEEPS[n.below(9)] };
        let mut config = FullScannerConfig::default();
        config.retention = Duration::from_millis(n.of([60_000, 1_000_000]));
        config.scanner_filter = filter(n);
        let r = s.sweep(name, &config).await;
        let told = s.told(&r);
        format!("{name}: {told}")
    };
    6 mark_lease_expired_if_due: |s, n| {
        let id = held_or_any(s, n);
        let partition = partition_of(&id, n);
        let r = s.backend.mark_lease_expired_if_due(partition, &id).await;
        s.told(&r)
    };
    6 promote_delayed: |s, n| {
        let (id, lane) = (s.execution(n), lane(n));
        let (partition, at) = (partition_of(&id, n), s.in_ms(n.of([0, 1_000, 60_000])));
        let r = s.backend.promote_delayed(partition, &lane, &id, at).await;
        s.told(&r)
    };
    8 expire_execution: |s, n| {
        let id = held_or_any(s, n);
        let phase = match n.below(2) { 0 => ExpirePhase::AttemptTimeout, _ => ExpirePhase::ExecutionDeadline };
        let (partition, at) = (partition_of(&id, n), s.in_ms(n.of([0, 20_000, 90_000])));
        let r = s.backend.expire_execution(partition, &id, phase, at).await;
        s.told(&r)
    };
    3 reconcile_execution_index: |s, n| {
        let (partition, filter) = (some_partition(n), filter(n));
        let lanes = n.of([&["lane"][..], &["lane", "side"], &[]]).iter().map(|lane| LaneId::new(*lane));
        let r = s.backend.reconcile_execution_index(partition, &lanes.collect::<Vec<_>>(), &filter).await;
        s.told(&r)
    };
    3 trim_retention: |s, n| {
        let (partition, lane, now, filter) = (some_partition(n), lane(n), s.now(), filter(n));
        let r = s.backend.trim_retention(partition, &lane, n.of([60_000, 0]), now, n.of([10, 1, 0]), &filter).await;
        s.told(&r)
    };
}

/// An execution that somebody holds, or any.
fn held_or_any(s: &mut crate::side::Side, n: &mut Numbers) -> ff_core::types::ExecutionId {
    match s.held(n) {
        Some((_, held)) if !n.one_in(3) => held.execution_id,
        _ => s.execution(n),
    }
}

fn filter(n: &mut Numbers) -> ScannerFilter {
    match n.below(12) {
        9 => ScannerFilter::new().with_namespace(namespace(n)),
        10 => ScannerFilter::new().with_instance_tag("cairn.instance_id", "one"),
        11 => ScannerFilter::new().with_instance_tag("team.color", "blue"),
        _ => ScannerFilter::new(),
    }
}
