//! Budgets, quotas and admission.

use std::collections::BTreeMap;

use ff_core::backend::UsageDimensions;
use ff_core::contracts::{
    CheckAdmissionArgs, CreateBudgetArgs, CreateQuotaPolicyArgs, RecordSpendArgs, ReleaseAdmissionArgs,
    ReleaseBudgetArgs, ReportUsageAdminArgs, ResetBudgetArgs,
};
use ff_core::partition::{Partition, PartitionFamily};

use super::{NOTHING, operations};
use crate::numbers::Numbers;
use crate::side::{budget, quota};

operations! {
    10 create_budget: |s, n| {
        let dimensions: &[&str] = n.of([&["tokens", "cost"][..], &["tokens"], &[]]);
        let limits = |limit: u64| dimensions.iter().map(|_| limit).collect::<Vec<_>>();
        let args = CreateBudgetArgs {
            budget_id: budget(n),
            scope_type: "lane".to_owned(),
            scope_id: n.of(["lane", "side"]).to_owned(),
            enforcement_mode: n.of(["hard", "soft"]).to_owned(),
            on_hard_limit: "fail".to_owned(),
            on_soft_limit: "warn".to_owned(),
            reset_interval_ms: n.of([0, 5_000]),
            dimensions: dimensions.iter().map(|name| (*name).to_owned()).collect(),
            hard_limits: limits(n.of([10, 0, 100])),
            soft_limits: if n.one_in(12) { vec![1] } else { limits(n.of([5, 0])) },
            now: s.now(),
        };
        let r = s.backend.create_budget(args).await;
        s.told(&r)
    };
    6 reset_budget: |s, n| {
        let args = ResetBudgetArgs { budget_id: budget(n), now: s.in_ms(n.of([0, 10])) };
        let r = s.backend.reset_budget(args).await;
        s.told(&r)
    };
    8 report_usage: |s, n| match s.handle(n) {
        Some(handle) => {
            let mut dimensions = UsageDimensions::new().with_input_tokens(1);
            dimensions.custom = usage(n);
            dimensions.dedup_key = n.of([None, Some("once")]).map(str::to_owned);
            let r = s.backend.report_usage(&handle, &budget(n), dimensions).await;
            s.told(&r)
        }
        None => NOTHING.to_owned(),
    };
    8 report_usage_admin: |s, n| {
        let usage = usage(n);
        let (names, mut amounts): (Vec<_>, Vec<_>) = usage.into_iter().unzip();
        if n.one_in(12) { amounts.push(1); }
        let args = ReportUsageAdminArgs::new(names, amounts, s.now());
        let args = if n.one_in(3) { args.with_dedup_key("admin".to_owned()) } else { args };
        let r = s.backend.report_usage_admin(&budget(n), args).await;
        s.told(&r)
    };
    12 record_spend: |s, n| {
        let (execution, usage) = (s.execution(n), usage(n));
        let args = RecordSpendArgs::new(budget(n), execution, usage, n.of(["a", "b", "c", "d", ""]));
        let r = s.backend.record_spend(args).await;
        s.told(&r)
    };
    8 release_budget: |s, n| {
        let args = ReleaseBudgetArgs::new(budget(n), s.execution(n));
        let r = s.backend.release_budget(args).await;
        s.told(&r)
    };
    8 read_budget: |s, n| {
        let id = budget(n);
        let r = s.backend.get_budget_status(&id).await.map(|status| {
            let sorted = |map: std::collections::HashMap<String, u64>| map.into_iter().collect::<BTreeMap<_, _>>();
            let words = (status.budget_id, status.scope_type, status.scope_id, status.enforcement_mode);
            let sums = (sorted(status.usage), sorted(status.hard_limits), sorted(status.soft_limits));
            let breaches = (status.breach_count, status.soft_breach_count, status.last_breach_at, status.last_breach_dim);
            (words, sums, breaches, status.next_reset_at, status.created_at)
        });
        let told = s.told(&r);
        let r = s.backend.read_budget_usage_and_limits(&id).await;
        format!("{told}; {}", s.told(&r))
    };
    10 create_quota_policy: |s, n| {
        let args = CreateQuotaPolicyArgs {
            quota_policy_id: quota(n),
            window_seconds: n.of([10, 0, 60]),
            max_requests_per_window: n.of([2, 0, 1]),
            max_concurrent: n.of([2, 0, 1]),
            now: s.now(),
        };
        let r = s.backend.create_quota_policy(args).await;
        s.told(&r)
    };
    24 check_admission: |s, n| {
        let (id, execution_id) = (quota(n), s.execution(n));
        let args = CheckAdmissionArgs {
            execution_id,
            now: s.now(),
            window_seconds: n.of([10, 60, 0]),
            rate_limit: n.of([2, 0, 1]),
            concurrency_cap: n.of([2, 0, 1]),
            jitter_ms: n.of([None, Some(0)]),
        };
        let r = s.backend.check_admission(&id, n.of(["", "tokens"]), args).await;
        s.told(&r)
    };
    8 release_admission: |s, n| {
        let args = ReleaseAdmissionArgs::new(quota(n), s.execution(n));
        let r = s.backend.release_admission(args).await;
        s.told(&r)
    };
    3 read_quota_policy_limits: |s, n| {
        let r = s.backend.read_quota_policy_limits(&quota(n)).await;
        s.told(&r)
    };
    4 reconcile_budget_counters: |s, n| {
        let partition = Partition { family: PartitionFamily::Budget, index: 0 };
        let now = s.now();
        let r = s.backend.reconcile_budget_counters(partition, now).await;
        s.told(&r)
    };
    4 reconcile_quota_counters: |s, n| {
        let partition = Partition { family: PartitionFamily::Quota, index: 0 };
        let now = s.now();
        let r = s.backend.reconcile_quota_counters(partition, now).await;
        s.told(&r)
    };
}

fn usage(n: &mut Numbers) -> BTreeMap<String, u64> {
    let amount = n.of([3, 0, 1, 8, 50]);
    let names = n.of([&["tokens"][..], &["tokens", "cost"], &["cost"], &["unknown"], &[]]);
    names.iter().map(|name| ((*name).to_owned(), amount)).collect()
}
