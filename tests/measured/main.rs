//! What is measured, as a recorder sees it, and the spans of what workers do.
//!
//! A recorder is the process's, so this is a suite of its own, in which one test runs at a time.

#![cfg(all(feature = "sqlite", feature = "postgres"))]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use ff_backend_sql::FullScannerConfig;
use ff_core::backend::{CapabilitySet, FailureClass, FailureReason};
use ff_core::types::{LaneId, TimestampMs};
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};
use tracing::field::Field;
use tracing::span;

#[allow(dead_code, reason = "the conformance suite's, of which this uses a part")]
#[path = "../conformance/harness.rs"]
mod harness;

use harness::{Harness as Opened, LEASE_MS, PATIENCE, on_every_database, policy};

/// One test at a time.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

static KEPT: LazyLock<Kept> = LazyLock::new(|| {
    let kept = Kept::default();
    metrics::set_global_recorder(kept.clone()).expect("the only recorder");
    kept
});

/// What was recorded: sums of counters, the last value of gauges, how many values histograms have.
#[derive(Clone, Default)]
struct Kept {
    values: Arc<Mutex<BTreeMap<String, f64>>>,
}

struct One {
    kept: Kept,
    name: String,
}

impl One {
    fn change(&self, change: impl FnOnce(f64) -> f64) {
        let mut values = self.kept.values.lock().expect("a map");
        let value = values.entry(self.name.clone()).or_default();
        *value = change(*value);
    }
}

impl CounterFn for One {
    fn increment(&self, value: u64) {
        self.change(|before| before + value as f64);
    }

    fn absolute(&self, value: u64) {
        self.change(|_| value as f64);
    }
}

impl GaugeFn for One {
    fn increment(&self, value: f64) {
        self.change(|before| before + value);
    }

    fn decrement(&self, value: f64) {
        self.change(|before| before - value);
    }

    fn set(&self, value: f64) {
        self.change(|_| value);
    }
}

impl HistogramFn for One {
    fn record(&self, _: f64) {
        self.change(|before| before + 1.0);
    }
}

impl Kept {
    fn one(&self, key: &Key) -> Arc<One> {
        let labels: Vec<String> = key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        Arc::new(One { kept: self.clone(), name: format!("{} {}", key.name(), labels.join(" ")).trim().to_owned() })
    }

    fn value(&self, name: &str) -> f64 {
        self.values.lock().expect("a map").get(name).copied().unwrap_or_default()
    }
}

impl Recorder for Kept {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.one(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.one(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.one(key))
    }
}

/// The spans that were made in this process, with what they carry.
static SPANS: LazyLock<Arc<Mutex<Vec<String>>>> = LazyLock::new(|| {
    let spans = Arc::default();
    tracing::subscriber::set_global_default(Eye(Arc::clone(&spans))).expect("the only subscriber");
    spans
});

struct Eye(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Eye {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target().starts_with("ff_backend_sql")
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        let mut text = span.metadata().name().to_owned();
        span.record(&mut |field: &Field, value: &dyn Debug| text.push_str(&format!(" {field}={value:?}")));
        self.0.lock().expect("a list").push(text);
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, _: &tracing::Event<'_>) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// How much each of these grew.
async fn grown<const N: usize>(names: [&str; N], work: impl Future<Output = ()>) -> [f64; N] {
    let before = names.map(|name| KEPT.value(name));
    work.await;
    std::array::from_fn(|n| KEPT.value(names[n]) - before[n])
}

async fn depth(h: &Opened, lane: &str, state: &str) -> (f64, f64) {
    h.sweep("measure").await;
    let of = |name: &str| KEPT.value(&format!("{name} lane={lane} state={state}"));
    (of("ff_queue_depth"), of("ff_queue_oldest_age_seconds"))
}

on_every_database! {
    async fn what_workers_do_is_counted(h) {
        let _alone = ALONE.lock().await;
        let names = [
            "ff_claims_total", "ff_claims_in_vain_total", "ff_claim_duration_seconds", "ff_completions_total",
            "ff_failures_total", "ff_retries_total",
        ];
        let worked = grown(names, async {
            for end in 0..3 {
                h.create().await;
                let handle = h.claim("worker-a").await.expect("it is claimed");
                let reason = FailureReason::new("no luck");
                match end {
                    0 => h.backend.complete(&handle, None).await.expect("it is completed"),
                    1 => {
                        h.backend.fail(&handle, reason, FailureClass::Permanent).await.expect("it fails");
                    }
                    _ => {
                        h.backend.fail(&handle, reason, FailureClass::Transient).await.expect("it is tried again");
                        let handle = h.claim("worker-a").await.expect("it is claimed again");
                        h.backend.complete(&handle, None).await.expect("it is completed");
                    }
                }
            }
            assert!(h.claim("worker-a").await.is_none());
        })
        .await;
        assert_eq!(worked, [4.0, 1.0, 5.0, 2.0, 1.0, 1.0]);
    }

    async fn leases_that_run_out_are_counted(h) {
        let _alone = ALONE.lock().await;
        let ran_out = grown(["ff_lease_expiries_total", "ff_crash_limits_total"], async {
            h.created_and_claimed().await;
            h.pass_ms(LEASE_MS + 1);
            h.sweep("lease_expiry").await;
        })
        .await;
        assert_eq!(ran_out, [1.0, 0.0]);
    }

    async fn what_goes_together_is_counted(h) {
        let _alone = ALONE.lock().await;
        let name = format!("ff_batch_size database={}", h.declared().label);
        let [batches] = grown([name.as_str()], async { drop(h.create().await) }).await;
        assert!(batches >= 1.0);
    }

    async fn depths_and_ages_are_told_by_lane_and_state(h) {
        let _alone = ALONE.lock().await;
        LazyLock::force(&KEPT);
        static LANES: AtomicU32 = AtomicU32::new(0);
        let lane = format!("lane-{}", LANES.fetch_add(1, Ordering::SeqCst));
        let on = |args: &mut ff_core::contracts::CreateExecutionArgs| args.lane_id = LaneId::new(&lane);
        h.create_with(on).await;
        h.pass_ms(5_000);
        h.create_with(on).await;
        let later = TimestampMs::from_millis(h.clock.now_ms() + 60_000);
        h.create_with(|args| {
            on(args);
            args.delay_until = Some(later);
        })
        .await;
        assert_eq!(depth(&h, &lane, "waiting").await, (2.0, 5.0));
        assert_eq!(depth(&h, &lane, "delayed").await, (1.0, 0.0));
        assert_eq!(depth(&h, &lane, "active").await, (0.0, 0.0));
        for _ in 0..2 {
            let claimed = h.backend.claim(&LaneId::new(&lane), &CapabilitySet::default(), policy("worker-a")).await;
            claimed.expect("an answer").expect("it is claimed");
        }
        assert_eq!(depth(&h, &lane, "waiting").await, (0.0, 0.0), "what is gone is told as well");
        assert_eq!(depth(&h, &lane, "active").await, (2.0, 0.0));
        h.pass_ms(61_000);
        assert_eq!(depth(&h, &lane, "delayed").await, (1.0, 1.0), "it is overdue");
    }

    async fn what_a_worker_does_carries_its_execution_and_attempt(h) {
        let _alone = ALONE.lock().await;
        let spans = Arc::clone(&SPANS);
        let (id, handle) = h.created_and_claimed().await;
        spans.lock().expect("a list").clear();
        h.backend.renew(&handle).await.expect("the lease goes on");
        h.backend.complete(&handle, None).await.expect("it is completed");
        let told: Vec<String> = spans.lock().expect("a list").iter().filter(|span| span.starts_with("attempt")).cloned().collect();
        let expected = ["renew", "complete"].map(|name| format!("attempt operation={name:?} execution={id} attempt=0"));
        assert_eq!(told, expected);
    }

    async fn sweeps_are_timed(h) {
        let _alone = ALONE.lock().await;
        LazyLock::force(&KEPT);
        let before = KEPT.value("ff_sweep_duration_seconds sweep=delayed_promoter");
        let mut config = FullScannerConfig::off();
        config.delayed_promoter_interval = Duration::from_millis(1);
        assert!(h.start_sweeps(config));
        let ran = async {
            while KEPT.value("ff_sweep_duration_seconds sweep=delayed_promoter") < before + 2.0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(PATIENCE, ran).await.expect("the sweep runs again and again");
        h.backend.shutdown_prepare(PATIENCE).await.expect("it leaves");
    }
}
