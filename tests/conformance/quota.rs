//! Quotas: admissions in a sliding window, places that executions hold, and their upkeep.

use ff_core::contracts::{
    CheckAdmissionArgs, CheckAdmissionResult, CreateQuotaPolicyArgs, CreateQuotaPolicyResult, QuotaPolicyLimits,
    ReleaseAdmissionArgs, ReleaseAdmissionResult,
};
use ff_core::engine_backend::ReconcileCounts;
use ff_core::engine_error::{EngineError, ValidationKind};
use ff_core::partition::{Partition, PartitionConfig, quota_partition};
use ff_core::types::{ExecutionId, QuotaPolicyId, TimestampMs};

use crate::harness::{Harness as Opened, T0, id_in, on_every_database, refusal};

use CheckAdmissionResult::{Admitted, AlreadyAdmitted, ConcurrencyExceeded, RateExceeded};

pub(crate) fn definition(id: &QuotaPolicyId, window: u64, rate: u64, cap: u64) -> CreateQuotaPolicyArgs {
    CreateQuotaPolicyArgs {
        quota_policy_id: id.clone(),
        window_seconds: window,
        max_requests_per_window: rate,
        max_concurrent: cap,
        now: TimestampMs::from_millis(T0),
    }
}

pub(crate) async fn created(h: &Opened, window: u64, rate: u64, cap: u64) -> QuotaPolicyId {
    let id = QuotaPolicyId::new();
    let result = h.backend.create_quota_policy(definition(&id, window, rate, cap)).await.unwrap();
    assert_eq!(result, CreateQuotaPolicyResult::Created { quota_policy_id: id.clone() });
    id
}

/// What an admission asks for: seconds of the window, rate and cap.
pub(crate) type Asked = (u64, u64, u64);

pub(crate) async fn admit(h: &Opened, id: &QuotaPolicyId, by: &ExecutionId, asked: Asked) -> CheckAdmissionResult {
    let (window_seconds, rate_limit, concurrency_cap) = asked;
    let now = TimestampMs::from_millis(h.clock.now_ms());
    let args = CheckAdmissionArgs {
        execution_id: by.clone(),
        now,
        window_seconds,
        rate_limit,
        concurrency_cap,
        jitter_ms: None,
    };
    h.backend.check_admission(id, "default", args).await.unwrap()
}

pub(crate) async fn release(h: &Opened, id: &QuotaPolicyId, by: &ExecutionId) {
    let released = h.backend.release_admission(ReleaseAdmissionArgs::new(id.clone(), by.clone())).await.unwrap();
    assert_eq!(released, ReleaseAdmissionResult::Released);
}

async fn active(h: &Opened, id: &QuotaPolicyId) -> Vec<String> {
    let sql = "SELECT CAST(active_concurrency AS text) FROM ff_quota_policy WHERE quota_policy_id";
    h.texts(&format!("{sql} = '{id}'")).await
}

async fn rows(h: &Opened, table: &str) -> i64 {
    h.number(&format!("SELECT count(*) FROM {table}")).await
}

async fn reconcile(h: &Opened, id: &QuotaPolicyId) -> ReconcileCounts {
    let partition: Partition = quota_partition(id, &PartitionConfig::default());
    // Later than the clock: it makes nothing due.
    h.backend.reconcile_quota_counters(partition, TimestampMs::from_millis(i64::MAX)).await.unwrap()
}

on_every_database! {
    async fn a_policy_is_created_once(h) {
        let id = created(&h, 60, 10, 3).await;
        let again = h.backend.create_quota_policy(definition(&id, 1, 1, 1)).await.unwrap();
        assert_eq!(again, CreateQuotaPolicyResult::AlreadySatisfied { quota_policy_id: id.clone() });
        let limits = h.backend.read_quota_policy_limits(&id).await.unwrap();
        assert_eq!(limits, Some(QuotaPolicyLimits::new(10, 60, 3, 0)));
        assert_eq!(h.backend.read_quota_policy_limits(&QuotaPolicyId::new()).await.unwrap(), None);
    }

    async fn a_limit_beyond_the_column_is_refused(h) {
        let large = i64::MAX.unsigned_abs() + 1;
        let id = QuotaPolicyId::new();
        for (args, field) in [
            (definition(&id, large, 0, 0), "window_seconds"),
            (definition(&id, 0, large, 0), "max_requests_per_window"),
            (definition(&id, 0, 0, large), "max_concurrent"),
        ] {
            let told = refusal(h.backend.create_quota_policy(args).await);
            assert!(told.contains(&format!("create_quota_policy: {field} exceeds i64::MAX ({large})")), "{told}");
        }
        assert_eq!(rows(&h, "ff_quota_policy").await, 0);
    }

    async fn a_negative_limit_is_corrupt(h) {
        let id = created(&h, 60, 10, 3).await;
        h.alter("UPDATE ff_quota_policy SET active_concurrency_cap = -2").await;
        let refused = h.backend.read_quota_policy_limits(&id).await.unwrap_err();
        let EngineError::Validation { kind: ValidationKind::Corruption, detail } = refused else { panic!("{refused}") };
        let place = format!("read_quota_policy_limits: quota_policy={id} field=active_concurrency_cap");
        assert_eq!(detail, format!("{place} value=-2 (negative)"));
    }

    async fn the_rate_limits_a_sliding_window(h) {
        let id = created(&h, 1, 1, 1).await;
        let asked = (10, 2, 0);
        let one = id_in(1);
        assert_eq!(admit(&h, &id, &one, asked).await, Admitted);
        h.pass_ms(4_000);
        assert_eq!(admit(&h, &id, &one, asked).await, AlreadyAdmitted);
        assert_eq!(admit(&h, &id, &id_in(2), asked).await, Admitted);
        assert_eq!(admit(&h, &id, &id_in(3), asked).await, RateExceeded { retry_after_ms: 6_000 });
        assert_eq!(rows(&h, "ff_quota_window").await, 2);
        h.pass_ms(6_000);
        assert_eq!(admit(&h, &id, &id_in(3), asked).await, RateExceeded { retry_after_ms: 0 });
        h.pass_ms(1);
        assert_eq!(admit(&h, &id, &id_in(3), asked).await, Admitted);
        assert_eq!(active(&h, &id).await, ["0"]);
    }

    async fn jitter_is_added_to_the_wait_as_it_is(h) {
        let id = created(&h, 1, 1, 1).await;
        admit(&h, &id, &id_in(1), (10, 1, 0)).await;
        let args = CheckAdmissionArgs {
            execution_id: id_in(2), now: TimestampMs::from_millis(T0), window_seconds: 10, rate_limit: 1,
            concurrency_cap: 0, jitter_ms: Some(u64::MAX),
        };
        let told = h.backend.check_admission(&id, "", args).await.unwrap();
        assert_eq!(told, RateExceeded { retry_after_ms: u64::MAX });
    }

    async fn a_cap_limits_the_places_until_one_is_given_back(h) {
        let id = created(&h, 0, 0, 0).await;
        let asked = (10, 0, 2);
        let (one, two, three) = (id_in(1), id_in(2), id_in(3));
        for by in [&one, &two] {
            assert_eq!(admit(&h, &id, by, asked).await, Admitted);
        }
        assert_eq!(admit(&h, &id, &three, asked).await, ConcurrencyExceeded);
        for _ in 0..2 {
            release(&h, &id, &one).await;
            assert_eq!(active(&h, &id).await, ["1"]);
        }
        assert_eq!(rows(&h, "ff_quota_window").await, 2, "the rate is not given back");
        assert_eq!(admit(&h, &id, &three, asked).await, Admitted);
        assert_eq!(active(&h, &id).await, ["2"]);
    }

    async fn an_execution_admitted_again_keeps_its_place(h) {
        let id = created(&h, 0, 0, 0).await;
        let by = id_in(1);
        for _ in 0..3 {
            assert_eq!(admit(&h, &id, &by, (1, 0, 2)).await, Admitted);
            h.pass_ms(1_000);
        }
        assert_eq!(active(&h, &id).await, ["1"]);
        assert_eq!(rows(&h, "ff_quota_admitted").await, 1);
    }

    async fn a_window_of_nothing_admits_twice_in_one_moment(h) {
        let id = created(&h, 0, 0, 0).await;
        let by = id_in(1);
        for _ in 0..2 {
            assert_eq!(admit(&h, &id, &by, (0, 0, 0)).await, Admitted);
        }
        assert_eq!(rows(&h, "ff_quota_window").await, 1);
    }

    async fn a_refusal_forgets_what_has_left_the_window(h) {
        let id = created(&h, 0, 0, 0).await;
        admit(&h, &id, &id_in(1), (1, 0, 1)).await;
        h.pass_ms(1_001);
        assert_eq!(admit(&h, &id, &id_in(2), (1, 5, 1)).await, ConcurrencyExceeded);
        assert_eq!(rows(&h, "ff_quota_window").await, 0);
    }

    async fn a_window_beyond_time_itself_is_endless(h) {
        let id = created(&h, 0, 0, 0).await;
        assert_eq!(admit(&h, &id, &id_in(1), (u64::MAX, 1, 0)).await, Admitted);
        h.pass_ms(1_000_000_000_000);
        assert!(matches!(admit(&h, &id, &id_in(2), (u64::MAX, 1, 0)).await, RateExceeded { .. }));
    }

    async fn the_policy_need_not_exist(h) {
        let id = QuotaPolicyId::new();
        assert_eq!(admit(&h, &id, &id_in(1), (10, 1, 0)).await, Admitted);
        assert!(matches!(admit(&h, &id, &id_in(2), (10, 1, 0)).await, RateExceeded { .. }));
        assert_eq!(h.backend.read_quota_policy_limits(&id).await.unwrap(), None);
        assert_eq!(admit(&h, &id, &id_in(3), (10, 0, 1)).await, Admitted);
        assert_eq!(admit(&h, &id, &id_in(4), (10, 0, 1)).await, ConcurrencyExceeded);
        let limits = h.backend.read_quota_policy_limits(&id).await.unwrap();
        assert_eq!(limits, Some(QuotaPolicyLimits::new(0, 0, 0, 0)));
        release(&h, &QuotaPolicyId::new(), &id_in(1)).await;
    }

    async fn a_place_taken_without_a_cap_is_given_back_all_the_same(h) {
        let id = created(&h, 0, 0, 0).await;
        let (capped, free) = (id_in(1), id_in(2));
        admit(&h, &id, &capped, (10, 0, 5)).await;
        admit(&h, &id, &free, (10, 0, 0)).await;
        assert_eq!(active(&h, &id).await, ["1"]);
        release(&h, &id, &free).await;
        release(&h, &id, &capped).await;
        assert_eq!(active(&h, &id).await, ["0"]);
    }

    async fn many_at_once_never_pass_the_limits(h) {
        for (known, asked, admitted) in [(true, (60, 5, 0), 5), (true, (60, 0, 3), 3), (false, (60, 4, 0), 4)] {
            let id = if known { created(&h, 60, 0, 0).await } else { QuotaPolicyId::new() };
            let mut asking = tokio::task::JoinSet::new();
            for n in 0..12 {
                let (h, id) = (h.clone(), id.clone());
                asking.spawn(async move { admit(&h, &id, &id_in(n), asked).await });
            }
            let answers = asking.join_all().await;
            assert_eq!(answers.iter().filter(|answer| **answer == Admitted).count(), admitted, "{asked:?}");
        }
    }

    async fn upkeep_prunes_and_counts_again(h) {
        let id = created(&h, 5, 0, 3).await;
        let unlimited = created(&h, 0, 0, 0).await;
        for n in 0..2 {
            admit(&h, &id, &id_in(n), (5, 0, 3)).await;
            admit(&h, &unlimited, &id_in(n), (5, 0, 3)).await;
        }
        assert_eq!(reconcile(&h, &id).await, ReconcileCounts::default(), "a time later than now makes nothing due");
        h.alter(&format!("UPDATE ff_quota_policy SET active_concurrency = 7 WHERE quota_policy_id = '{id}'")).await;
        assert_eq!(reconcile(&h, &id).await, ReconcileCounts { processed: 1, errors: 0 });
        assert_eq!(active(&h, &id).await, ["2"]);
        h.pass_ms(5_000);
        assert_eq!(h.sweep("quota_reconciler").await, (2, 0));
        assert_eq!(active(&h, &id).await, ["0"]);
        assert_eq!(active(&h, &unlimited).await, ["0"]);
        assert_eq!(rows(&h, "ff_quota_admitted").await, 0, "also those of the policy without a cap");
        assert_eq!(rows(&h, "ff_quota_window").await, 4, "they are as old as the window is long");
        h.pass_ms(1);
        assert_eq!(h.sweep("quota_reconciler").await, (1, 0));
        assert_eq!(rows(&h, "ff_quota_window").await, 2);
        assert_eq!(h.sweep("quota_reconciler").await, (0, 0));
    }

    async fn a_place_under_a_cap_of_the_callers_outlives_those_that_run_out_beside_it(h) {
        let id = created(&h, 0, 0, 0).await;
        admit(&h, &id, &id_in(1), (100, 0, 5)).await;
        admit(&h, &id, &id_in(2), (1, 0, 0)).await;
        h.pass_ms(1_000);
        assert_eq!(h.sweep("quota_reconciler").await, (1, 0));
        assert_eq!((active(&h, &id).await, rows(&h, "ff_quota_admitted").await), (vec!["1".to_owned()], 1));
    }

    async fn what_no_policy_limits_is_forgotten_when_its_time_is_over(h) {
        let (unknown, released) = (QuotaPolicyId::new(), QuotaPolicyId::new());
        let by = id_in(1);
        admit(&h, &unknown, &by, (10, 1, 0)).await;
        admit(&h, &released, &by, (10, 1, 0)).await;
        release(&h, &released, &by).await;
        h.pass_ms(9_999);
        h.sweep("growth").await;
        assert_eq!((rows(&h, "ff_quota_admitted").await, rows(&h, "ff_quota_window").await), (1, 2));
        h.pass_ms(1);
        h.sweep("growth").await;
        assert_eq!((rows(&h, "ff_quota_admitted").await, rows(&h, "ff_quota_window").await), (0, 2));
        h.pass_ms(24 * 60 * 60 * 1_000);
        h.sweep("growth").await;
        assert_eq!(rows(&h, "ff_quota_window").await, 0);
    }

    /// An hour ahead of everybody.
    async fn a_caller_whose_clock_is_ahead_moves_the_window_for_nobody(h) {
        let id = created(&h, 10, 0, 0).await;
        let asked = (10, 3, 0);
        assert_eq!(admit(&h, &id, &id_in(1), asked).await, Admitted);
        let ahead = CheckAdmissionArgs {
            execution_id: id_in(2),
            now: TimestampMs::from_millis(T0 + 3_600_000),
            window_seconds: 10,
            rate_limit: 3,
            concurrency_cap: 0,
            jitter_ms: None,
        };
        assert_eq!(h.backend.check_admission(&id, "default", ahead.clone()).await.unwrap(), Admitted);
        assert_eq!(rows(&h, "ff_quota_window").await, 2, "nobody's admission has left the window");
        assert_eq!(admit(&h, &id, &id_in(3), asked).await, Admitted);
        assert_eq!(admit(&h, &id, &id_in(4), asked).await, RateExceeded { retry_after_ms: 10_000 });
        let refused = h.backend.check_admission(&id, "default", CheckAdmissionArgs { execution_id: id_in(5), ..ahead });
        assert_eq!(refused.await.unwrap(), RateExceeded { retry_after_ms: 10_000 });
        h.pass_ms(10_001);
        assert_eq!(admit(&h, &id, &id_in(4), asked).await, Admitted, "nor is it held up in it for an hour");
        assert_eq!(rows(&h, "ff_quota_window").await, 1);
    }

    /// A process whose own clock is ahead: it and the caller believe that it is the year 2096.
    async fn a_process_whose_clock_is_ahead_moves_the_window_for_nobody(h) {
        let id = created(&h, 100_000, 0, 0).await;
        let now_ms = h.backend.server_time_ms().await.unwrap() as i64;
        h.clock.set(now_ms);
        assert_eq!(admit(&h, &id, &id_in(1), (100_000, 9, 0)).await, Admitted);
        h.clock.set(4_000_000_000_000);
        assert_eq!(admit(&h, &id, &id_in(2), (100_000, 9, 0)).await, Admitted);
        h.sweep("quota_reconciler").await;
        assert_eq!(rows(&h, "ff_quota_window").await, 2);
        let latest = h.number("SELECT max(admitted_at_ms) FROM ff_quota_window").await;
        assert!(latest <= h.backend.server_time_ms().await.unwrap() as i64, "{latest} is ahead of the database");
    }
}
