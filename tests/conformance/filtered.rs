//! Sweeps with a filter: what others have to do is neither read nor touched, however much it is.

use std::sync::Mutex;
use std::time::Duration;

use ff_backend_sql::FullScannerConfig;
use ff_backend_sql::testing::Step;
use ff_core::backend::ScannerFilter;
use ff_core::contracts::TimeoutBehavior;
use ff_core::types::{ExecutionId, TimestampMs};

use crate::admission::route;
use crate::harness::{Harness as Opened, LEASE_MS, on_every_database};
use crate::suspend::{seed, suspended_with};

/// More than a page of a list.
const OTHERS: usize = 251;

/// The most statements that one execution takes on its way.
const STATEMENTS: usize = 24;

/// Something whose time is over a lease later.
#[derive(Debug, Clone, Copy)]
enum Due {
    Lease,
    Deadline,
    Suspension,
    Waitpoint,
    Block,
}

const ALL: [Due; 5] = [Due::Lease, Due::Deadline, Due::Suspension, Due::Waitpoint, Due::Block];

impl Due {
    /// The sweep that takes it, and the statement by which it looks for what is due.
    fn sweep(self) -> (&'static str, &'static str) {
        match self {
            Self::Lease => ("lease_expiry", "expiry_lease_due_list"),
            Self::Deadline => ("execution_deadline", "expiry_deadline_due_list"),
            Self::Suspension => ("suspension_timeout", "suspension_due_list"),
            Self::Waitpoint => ("pending_wp_expiry", "waitpoint_due_list"),
            Self::Block => ("unblock", "admission_blocked_list"),
        }
    }

    async fn make(self, h: &Opened) -> ExecutionId {
        let until = TimestampMs::from_millis(h.clock.now_ms() + LEASE_MS / 2);
        match self {
            Self::Lease => h.created_and_claimed().await.0,
            Self::Deadline => h.create_with(|args| args.execution_deadline_at = Some(until)).await,
            Self::Suspension => suspended_with(h, |args| args.with_timeout(until, TimeoutBehavior::Fail)).await.id,
            Self::Waitpoint => {
                let (id, handle) = h.created_and_claimed().await;
                let waits = h.backend.create_waitpoint(&handle, "key", Duration::from_secs(1)).await;
                waits.expect("it is made");
                id
            }
            Self::Block => {
                let id = h.create().await;
                h.backend.block_route(route(&id, "waiting_for_budget")).await.expect("it is blocked");
                id
            }
        }
    }
}

on_every_database! {
    async fn what_others_have_to_do_costs_a_sweep_nothing(h) {
        seed(&h).await;
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        h.fail(Box::new(move |step, name| {
            if step == Step::Run {
                seen.lock().expect("a list").push(name);
            }
            None
        }));
        for due in ALL {
            let mut own = None;
            for _ in 0..OTHERS {
                own = Some(due.make(&h).await);
            }
            // The newest one, behind a page of others.
            h.backend.set_execution_tag(&own.expect("there are some"), "team.name", "blue").await.expect("it is tagged");
            h.pass_ms(LEASE_MS + 1);
            let mut config = FullScannerConfig::default();
            config.scanner_filter = ScannerFilter::new().with_namespace("space").with_instance_tag("team.name", "blue");
            let (sweep, list) = due.sweep();
            asked.lock().expect("a list").clear();
            assert_eq!(h.sweep_with(sweep, &config).await, (1, 0), "{due:?}");
            let asked = std::mem::take(&mut *asked.lock().expect("a list"));
            let looks = asked.iter().filter(|name| **name == list).count();
            assert!(looks == 1 && asked.len() <= STATEMENTS, "{due:?}: {looks} looks, {} statements", asked.len());
            // What is left of it is nobody's for the next kind.
            config.scanner_filter = ScannerFilter::NOOP;
            h.sweep_with(sweep, &config).await;
            h.alter("DELETE FROM ff_exec_core").await;
            h.alter("DELETE FROM ff_attempt").await;
        }
    }
}
