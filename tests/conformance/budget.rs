//! Budgets: limits, reports of usage, what executions give back, resets.

use std::collections::{BTreeMap, HashMap};

use ff_core::backend::{Handle, HandleKind, HandleOpaque, UsageDimensions};
use ff_core::contracts::{
    BudgetStatus, BudgetUsageAndLimits, CreateBudgetArgs, CreateBudgetResult, RecordSpendArgs, ReleaseBudgetArgs,
    ReportUsageAdminArgs, ReportUsageResult, ResetBudgetArgs, ResetBudgetResult,
};
use ff_core::engine_error::{EngineError, ValidationKind};
use ff_core::partition::{Partition, PartitionConfig, PartitionFamily, budget_partition};
use ff_core::types::{BudgetId, ExecutionId, TimestampMs};

use crate::harness::{Harness as Opened, T0, id_in, on_every_database, refusal};

/// A limit on each dimension: name, hard, soft.
pub(crate) type Limits<'a> = &'a [(&'a str, u64, u64)];

pub(crate) fn definition(id: &BudgetId, limits: Limits<'_>, reset_interval_ms: u64) -> CreateBudgetArgs {
    CreateBudgetArgs {
        budget_id: id.clone(),
        scope_type: "tenant".to_owned(),
        scope_id: "one".to_owned(),
        enforcement_mode: "strict".to_owned(),
        on_hard_limit: "fail".to_owned(),
        on_soft_limit: "warn".to_owned(),
        reset_interval_ms,
        dimensions: limits.iter().map(|(name, ..)| (*name).to_owned()).collect(),
        hard_limits: limits.iter().map(|(_, hard, _)| *hard).collect(),
        soft_limits: limits.iter().map(|(.., soft)| *soft).collect(),
        now: TimestampMs::from_millis(T0),
    }
}

pub(crate) async fn created(h: &Opened, limits: Limits<'_>) -> BudgetId {
    let id = BudgetId::new();
    let result = h.backend.create_budget(definition(&id, limits, 0)).await.unwrap();
    assert_eq!(result, CreateBudgetResult::Created { budget_id: id.clone() });
    id
}

pub(crate) fn used(deltas: &[(&str, u64)]) -> UsageDimensions {
    let mut usage = UsageDimensions::new();
    usage.custom = deltas.iter().map(|(name, delta)| ((*name).to_owned(), *delta)).collect();
    usage
}

/// A handle that nothing can decode: reports need no lease.
pub(crate) fn garbage() -> Handle {
    Handle::new(ff_core::backend::BackendTag::Valkey, HandleKind::Fresh, HandleOpaque::new(vec![0xff].into()))
}

pub(crate) async fn report(h: &Opened, id: &BudgetId, deltas: &[(&str, u64)]) -> ReportUsageResult {
    h.backend.report_usage(&garbage(), id, used(deltas)).await.unwrap()
}

pub(crate) async fn report_keyed(h: &Opened, id: &BudgetId, deltas: &[(&str, u64)], key: &str) -> ReportUsageResult {
    let mut usage = used(deltas);
    usage.dedup_key = Some(key.to_owned());
    h.backend.report_usage(&garbage(), id, usage).await.unwrap()
}

async fn spend(h: &Opened, id: &BudgetId, by: &ExecutionId, deltas: &[(&str, u64)], key: &str) -> ReportUsageResult {
    let deltas = deltas.iter().map(|(name, delta)| ((*name).to_owned(), *delta)).collect();
    h.backend.record_spend(RecordSpendArgs::new(id.clone(), by.clone(), deltas, key)).await.unwrap()
}

async fn release(h: &Opened, id: &BudgetId, by: &ExecutionId) {
    h.backend.release_budget(ReleaseBudgetArgs::new(id.clone(), by.clone())).await.unwrap();
}

pub(crate) async fn reset(h: &Opened, id: &BudgetId, now_ms: i64) -> i64 {
    let args = ResetBudgetArgs { budget_id: id.clone(), now: TimestampMs::from_millis(now_ms) };
    let ResetBudgetResult::Reset { next_reset_at } = h.backend.reset_budget(args).await.unwrap();
    next_reset_at.0
}

async fn status(h: &Opened, id: &BudgetId) -> BudgetStatus {
    h.backend.get_budget_status(id).await.unwrap()
}

async fn usage(h: &Opened, id: &BudgetId) -> HashMap<String, u64> {
    status(h, id).await.usage
}

fn numbers(pairs: &[(&str, u64)]) -> HashMap<String, u64> {
    pairs.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect()
}

async fn keys(h: &Opened) -> i64 {
    h.number("SELECT count(*) FROM ff_budget_usage_dedup").await
}

/// Puts a policy in place that `create_budget` never writes.
async fn put_policy(h: &Opened, id: &BudgetId, policy: &str) {
    h.alter(&format!("UPDATE ff_budget_policy SET policy_json = '{policy}' WHERE budget_id = '{id}'")).await;
}

/// The engine's number for the partition of a budget.
pub(crate) fn partition(id: &BudgetId) -> Partition {
    budget_partition(id, &PartitionConfig::default())
}

fn now(h: &Opened) -> TimestampMs {
    TimestampMs::from_millis(h.clock.now_ms())
}

on_every_database! {
    async fn a_budget_is_created_once(h) {
        let id = created(&h, &[("tokens", 100, 50)]).await;
        let again = h.backend.create_budget(definition(&id, &[("tokens", 1, 1)], 5)).await.unwrap();
        assert_eq!(again, CreateBudgetResult::AlreadySatisfied { budget_id: id.clone() });
        let seen = status(&h, &id).await;
        assert_eq!(seen, BudgetStatus {
            budget_id: id.to_string(),
            scope_type: "tenant".to_owned(),
            scope_id: "one".to_owned(),
            enforcement_mode: "strict".to_owned(),
            usage: HashMap::new(),
            hard_limits: numbers(&[("tokens", 100)]),
            soft_limits: numbers(&[("tokens", 50)]),
            breach_count: 0,
            soft_breach_count: 0,
            last_breach_at: None,
            last_breach_dim: None,
            next_reset_at: None,
            created_at: Some(T0.to_string()),
        });
    }

    async fn limits_of_another_number_than_dimensions_are_refused(h) {
        let id = BudgetId::new();
        for change in [
            |args: &mut CreateBudgetArgs| args.hard_limits.clear(),
            |args: &mut CreateBudgetArgs| args.soft_limits.push(1),
        ] {
            let mut args = definition(&id, &[("tokens", 1, 1)], 0);
            change(&mut args);
            let told = refusal(h.backend.create_budget(args).await);
            let text = "create_budget: dimensions / hard_limits / soft_limits length mismatch";
            assert!(told.contains(text), "{told}");
        }
        assert!(matches!(h.backend.get_budget_status(&id).await, Err(EngineError::NotFound { entity: "budget" })));
    }

    async fn text_that_no_column_can_hold_is_refused(h) {
        let id = created(&h, &[]).await;
        let mut args = definition(&id, &[], 0);
        args.scope_id = "a\0".to_owned();
        assert!(refusal(h.backend.create_budget(args).await).contains("scope_id: must not contain U+0000"));
        assert!(refusal(h.backend.report_usage(&garbage(), &id, used(&[("a\0", 1)])).await).contains("dimension"));
        let mut keyed = used(&[]);
        keyed.dedup_key = Some("\0".to_owned());
        assert!(refusal(h.backend.report_usage(&garbage(), &id, keyed).await).contains("dedup_key"));
    }

    async fn usage_adds_up_without_a_budget_or_a_limit(h) {
        let unknown = BudgetId::new();
        assert_eq!(report(&h, &unknown, &[("tokens", 40)]).await, ReportUsageResult::Ok);
        assert_eq!(report(&h, &unknown, &[("tokens", 2)]).await, ReportUsageResult::Ok);
        let counted = format!("SELECT current_value FROM ff_budget_usage WHERE budget_id = '{unknown}'");
        assert_eq!(h.number(&counted).await, 42);
        let unlimited = created(&h, &[("tokens", 0, 0)]).await;
        assert_eq!(report(&h, &unlimited, &[("tokens", u64::MAX / 2)]).await, ReportUsageResult::Ok);
        assert_eq!(usage(&h, &unlimited).await, numbers(&[("tokens", u64::MAX / 2)]));
    }

    async fn a_budget_that_comes_later_sees_what_was_used_before(h) {
        let id = BudgetId::new();
        report(&h, &id, &[("tokens", 90)]).await;
        h.backend.create_budget(definition(&id, &[("tokens", 100, 0)], 0)).await.unwrap();
        let refused = ReportUsageResult::HardBreach { dimension: "tokens".to_owned(), current_usage: 90, hard_limit: 100 };
        assert_eq!(report(&h, &id, &[("tokens", 11)]).await, refused);
    }

    async fn a_hard_breach_counts_nothing_in_any_dimension(h) {
        let id = created(&h, &[("calls", 0, 0), ("tokens", 100, 10), ("zeal", 5, 0)]).await;
        assert_eq!(
            report(&h, &id, &[("calls", 1), ("tokens", 90), ("zeal", 1)]).await,
            ReportUsageResult::SoftBreach { dimension: "tokens".to_owned(), current_usage: 90, soft_limit: 10 },
        );
        h.pass_ms(5);
        assert_eq!(
            report(&h, &id, &[("calls", 1), ("tokens", 11), ("zeal", 9)]).await,
            ReportUsageResult::HardBreach { dimension: "tokens".to_owned(), current_usage: 90, hard_limit: 100 },
        );
        let seen = status(&h, &id).await;
        assert_eq!(seen.usage, numbers(&[("calls", 1), ("tokens", 90), ("zeal", 1)]));
        assert_eq!((seen.breach_count, seen.soft_breach_count), (1, 1));
        assert_eq!(seen.last_breach_at, Some((T0 + 5).to_string()));
        assert_eq!(seen.last_breach_dim.as_deref(), Some("tokens"));
        assert_eq!(
            report(&h, &id, &[("tokens", 10)]).await,
            ReportUsageResult::SoftBreach { dimension: "tokens".to_owned(), current_usage: 100, soft_limit: 10 },
            "reaching the limit is no breach of it"
        );
    }

    async fn a_soft_breach_is_counted_once_per_report_and_tells_the_new_value(h) {
        let id = created(&h, &[("b", 0, 1), ("a", 0, 50), ("c", 0, 1)]).await;
        assert_eq!(report(&h, &id, &[("a", 50)]).await, ReportUsageResult::Ok);
        assert_eq!(
            report(&h, &id, &[("a", 25), ("b", 2), ("c", 2)]).await,
            ReportUsageResult::SoftBreach { dimension: "a".to_owned(), current_usage: 75, soft_limit: 50 },
        );
        let seen = status(&h, &id).await;
        assert_eq!((seen.breach_count, seen.soft_breach_count, seen.last_breach_dim), (0, 1, None));
        assert_eq!(seen.usage, numbers(&[("a", 75), ("b", 2), ("c", 2)]));
    }

    async fn dimensions_are_judged_in_the_order_of_their_bytes(h) {
        let id = created(&h, &[("a", 1, 0), ("B", 1, 0), ("é", 1, 0)]).await;
        let ReportUsageResult::HardBreach { dimension, .. } = report(&h, &id, &[("a", 2), ("é", 2), ("B", 2)]).await else {
            panic!("it is refused")
        };
        assert_eq!(dimension, "B");
    }

    async fn names_of_dimensions_may_hold_anything(h) {
        let name = r#"a.b "c" \ $ é"#;
        let id = created(&h, &[(name, 10, 0)]).await;
        assert_eq!(report(&h, &id, &[(name, 7)]).await, ReportUsageResult::Ok);
        let refused = ReportUsageResult::HardBreach { dimension: name.to_owned(), current_usage: 7, hard_limit: 10 };
        assert_eq!(report_keyed(&h, &id, &[(name, 7)], "k").await, refused);
        assert_eq!(report_keyed(&h, &id, &[(name, 7)], "k").await, refused);
        let by = id_in(3);
        assert_eq!(spend(&h, &id, &by, &[(name, 3)], "").await, ReportUsageResult::Ok);
        release(&h, &id, &by).await;
        assert_eq!(usage(&h, &id).await, numbers(&[(name, 7)]));
    }

    async fn only_custom_dimensions_count(h) {
        let id = created(&h, &[]).await;
        let usage_of_a_model = used(&[]).with_input_tokens(5).with_output_tokens(6).with_wall_ms(7);
        assert_eq!(h.backend.report_usage(&garbage(), &id, usage_of_a_model).await.unwrap(), ReportUsageResult::Ok);
        assert_eq!(usage(&h, &id).await, HashMap::new());
    }

    async fn a_key_counts_once_and_brings_the_first_answer_back(h) {
        let id = created(&h, &[("tokens", 100, 50)]).await;
        assert_eq!(report_keyed(&h, &id, &[("tokens", 40)], "ok").await, ReportUsageResult::Ok);
        let warned = ReportUsageResult::SoftBreach { dimension: "tokens".to_owned(), current_usage: 60, soft_limit: 50 };
        assert_eq!(report_keyed(&h, &id, &[("tokens", 20)], "soft").await, warned);
        let refused = ReportUsageResult::HardBreach { dimension: "tokens".to_owned(), current_usage: 60, hard_limit: 100 };
        assert_eq!(report_keyed(&h, &id, &[("tokens", 41)], "hard").await, refused);
        assert_eq!(report_keyed(&h, &id, &[("tokens", 40)], "ok").await, ReportUsageResult::Ok);
        assert_eq!(report_keyed(&h, &id, &[("tokens", 1)], "soft").await, warned);
        assert_eq!(report_keyed(&h, &id, &[("other", 1)], "hard").await, refused);
        let seen = status(&h, &id).await;
        assert_eq!((seen.breach_count, seen.soft_breach_count), (1, 1));
        assert_eq!((seen.usage, keys(&h).await), (numbers(&[("tokens", 60)]), 3));
        let life = "SELECT min(expires_at_ms - applied_at_ms) FROM ff_budget_usage_dedup";
        assert_eq!(h.number(life).await, 86_400_000);
    }

    async fn an_empty_key_is_none(h) {
        let id = created(&h, &[]).await;
        for _ in 0..2 {
            report_keyed(&h, &id, &[("tokens", 1)], "").await;
        }
        assert_eq!((usage(&h, &id).await, keys(&h).await), (numbers(&[("tokens", 2)]), 0));
    }

    async fn answers_that_others_kept_are_understood(h) {
        let id = created(&h, &[]).await;
        report_keyed(&h, &id, &[("tokens", 1)], "k").await;
        for (kept, answer) in [
            ("{}", Ok(ReportUsageResult::AlreadyApplied)),
            (r#"{"kind":"AlreadyApplied"}"#, Ok(ReportUsageResult::AlreadyApplied)),
            (r#"{"a":1}"#, Err("budget dedup outcome_json missing `kind`")),
            (r#"{"kind":"Maybe"}"#, Err("budget dedup outcome_json unknown kind: Maybe")),
        ] {
            h.alter(&format!("UPDATE ff_budget_usage_dedup SET outcome_json = '{kept}'")).await;
            let mut usage = used(&[("tokens", 1)]);
            usage.dedup_key = Some("k".to_owned());
            let told = h.backend.report_usage(&garbage(), &id, usage).await;
            match answer {
                Ok(answer) => assert_eq!(told.unwrap(), answer),
                Err(detail) => {
                    let Err(EngineError::Validation { kind: ValidationKind::Corruption, detail: told }) = told else {
                        panic!("{told:?}")
                    };
                    assert_eq!(told, detail);
                }
            }
        }
        assert_eq!(usage(&h, &id).await, numbers(&[("tokens", 1)]));
    }

    async fn a_number_beyond_the_column_is_refused_before_anything_is_written(h) {
        let id = created(&h, &[]).await;
        let large = i64::MAX.unsigned_abs() + 1;
        let text = |op: &str| format!("{op}: delta for dim=tokens exceeds i64::MAX ({large})");
        let mut usage = used(&[("tokens", large)]);
        usage.dedup_key = Some("k".to_owned());
        assert!(refusal(h.backend.report_usage(&garbage(), &id, usage).await).contains(&text("report_usage")));
        let admin = ReportUsageAdminArgs::new(vec!["tokens".to_owned()], vec![large], now(&h));
        assert!(refusal(h.backend.report_usage_admin(&id, admin).await).contains(&text("report_usage_admin")));
        let deltas = BTreeMap::from([("tokens".to_owned(), large)]);
        let spending = RecordSpendArgs::new(id.clone(), id_in(1), deltas, "k");
        assert!(refusal(h.backend.record_spend(spending).await).contains(&text("record_spend")));
        assert_eq!((h.number("SELECT count(*) FROM ff_budget_usage").await, keys(&h).await), (0, 0));
    }

    async fn a_counter_stays_at_the_end_of_its_column(h) {
        let id = created(&h, &[("tokens", u64::MAX, 0)]).await;
        let (most, by) = (i64::MAX.unsigned_abs(), id_in(1));
        for _ in 0..2 {
            assert_eq!(spend(&h, &id, &by, &[("tokens", most)], "").await, ReportUsageResult::Ok);
        }
        assert_eq!(usage(&h, &id).await, numbers(&[("tokens", most)]));
        release(&h, &id, &by).await;
        assert_eq!(usage(&h, &id).await, numbers(&[("tokens", 0)]));
    }

    async fn an_operator_reports_without_a_lease(h) {
        let id = created(&h, &[("tokens", 100, 0)]).await;
        let names = vec!["tokens".to_owned(), "tokens".to_owned()];
        let args = ReportUsageAdminArgs::new(names.clone(), vec![90, 7], TimestampMs::from_millis(-5));
        assert_eq!(h.backend.report_usage_admin(&id, args).await.unwrap(), ReportUsageResult::Ok);
        assert_eq!(usage(&h, &id).await, numbers(&[("tokens", 7)]), "the last number of a dimension counts");
        let mut args = ReportUsageAdminArgs::new(names, vec![1], now(&h));
        let told = refusal(h.backend.report_usage_admin(&id, args.clone()).await);
        assert!(told.contains("report_usage_admin: dimensions and deltas length mismatch"), "{told}");
        args.deltas.push(2);
        for _ in 0..2 {
            let keyed = args.clone().with_dedup_key("k".to_owned());
            assert_eq!(h.backend.report_usage_admin(&id, keyed).await.unwrap(), ReportUsageResult::Ok);
        }
        assert_eq!(usage(&h, &id).await, numbers(&[("tokens", 9)]));
    }

    async fn what_an_execution_spent_it_can_give_back(h) {
        let id = created(&h, &[("tokens", 100, 0)]).await;
        let (one, two) = (id_in(1), id_in(2));
        assert_eq!(spend(&h, &id, &one, &[("calls", 1), ("tokens", 40)], "a").await, ReportUsageResult::Ok);
        assert_eq!(spend(&h, &id, &one, &[("tokens", 5)], "b").await, ReportUsageResult::Ok);
        assert_eq!(spend(&h, &id, &two, &[("tokens", 15)], "c").await, ReportUsageResult::Ok);
        for _ in 0..2 {
            release(&h, &id, &one).await;
            assert_eq!(usage(&h, &id).await, numbers(&[("calls", 0), ("tokens", 15)]));
        }
        release(&h, &BudgetId::new(), &two).await;
        assert_eq!(usage(&h, &id).await, numbers(&[("calls", 0), ("tokens", 15)]));
    }

    async fn a_refused_spend_is_not_given_back(h) {
        let id = created(&h, &[("tokens", 100, 0)]).await;
        let by = id_in(1);
        spend(&h, &id, &by, &[("tokens", 40)], "a").await;
        let refused = ReportUsageResult::HardBreach { dimension: "tokens".to_owned(), current_usage: 40, hard_limit: 100 };
        assert_eq!(spend(&h, &id, &by, &[("tokens", 61)], "b").await, refused);
        assert_eq!(h.number("SELECT CAST(sum(delta_total) AS bigint) FROM ff_budget_usage_by_exec").await, 40);
        release(&h, &id, &by).await;
        assert_eq!(usage(&h, &id).await, numbers(&[("tokens", 0)]));
    }

    async fn a_spend_with_a_used_key_is_already_applied(h) {
        let id = created(&h, &[("tokens", 100, 0)]).await;
        spend(&h, &id, &id_in(1), &[("tokens", 40)], "k").await;
        h.alter("UPDATE ff_budget_usage_dedup SET outcome_json = '{\"kind\":\"Maybe\"}'").await;
        assert_eq!(spend(&h, &id, &id_in(1), &[("tokens", 40)], "k").await, ReportUsageResult::AlreadyApplied);
        assert_eq!(usage(&h, &id).await, numbers(&[("tokens", 40)]));
        for _ in 0..2 {
            assert_eq!(spend(&h, &id, &id_in(1), &[("tokens", 1)], "").await, ReportUsageResult::Ok);
        }
        assert_eq!(usage(&h, &id).await, numbers(&[("tokens", 42)]));
    }

    async fn a_reset_begins_a_new_period(h) {
        let (id, by) = (BudgetId::new(), id_in(1));
        h.backend.create_budget(definition(&id, &[("tokens", 100, 10)], 60_000)).await.unwrap();
        assert_eq!(status(&h, &id).await.next_reset_at, Some((T0 + 60_000).to_string()));
        spend(&h, &id, &by, &[("calls", 3), ("tokens", 90)], "k").await;
        report(&h, &id, &[("tokens", 90)]).await;
        assert_eq!(reset(&h, &id, T0 + 7).await, T0 + 60_007);
        let seen = status(&h, &id).await;
        assert_eq!(seen.usage, numbers(&[("calls", 0), ("tokens", 0)]));
        assert_eq!((seen.breach_count, seen.soft_breach_count), (1, 1), "they are history");
        assert_eq!((seen.last_breach_at, seen.last_breach_dim), (None, None));
        assert_eq!(seen.next_reset_at, Some((T0 + 60_007).to_string()));
        let reset_at = "SELECT min(last_reset_at_ms) FROM ff_budget_usage";
        assert_eq!((h.number(reset_at).await, keys(&h).await), (T0 + 7, 1));
        report(&h, &id, &[("tokens", 5)]).await;
        release(&h, &id, &by).await;
        assert_eq!(usage(&h, &id).await, numbers(&[("calls", 0), ("tokens", 0)]), "never below zero");
    }

    async fn a_budget_without_a_period_is_reset_by_hand_only(h) {
        let id = created(&h, &[("tokens", 1, 0)]).await;
        assert_eq!(reset(&h, &id, T0).await, 0);
        assert_eq!(status(&h, &id).await.next_reset_at, None);
        let unknown = ResetBudgetArgs { budget_id: BudgetId::new(), now: now(&h) };
        let refused = h.backend.reset_budget(unknown).await.unwrap_err();
        assert!(matches!(refused, EngineError::NotFound { entity: "budget" }), "{refused}");
    }

    async fn the_sweep_resets_what_is_due(h) {
        let due = BudgetId::new();
        let later = BudgetId::new();
        h.backend.create_budget(definition(&due, &[("tokens", 9, 0)], 1_000)).await.unwrap();
        h.backend.create_budget(definition(&later, &[("tokens", 9, 0)], 5_000)).await.unwrap();
        let never = created(&h, &[("tokens", 9, 0)]).await;
        for id in [&due, &later, &never] {
            report(&h, id, &[("tokens", 3)]).await;
        }
        assert_eq!(h.sweep("budget_reset").await, (0, 0));
        h.pass_ms(1_000);
        assert_eq!(h.sweep("budget_reset").await, (1, 0));
        assert_eq!(h.sweep("budget_reset").await, (0, 0));
        assert_eq!(usage(&h, &due).await, numbers(&[("tokens", 0)]));
        assert_eq!(status(&h, &due).await.next_reset_at, Some((T0 + 2_000).to_string()));
        for id in [&later, &never] {
            assert_eq!(usage(&h, id).await, numbers(&[("tokens", 3)]));
        }
    }

    async fn a_budget_that_lost_its_period_is_swept_once(h) {
        let id = BudgetId::new();
        h.backend.create_budget(definition(&id, &[], 1_000)).await.unwrap();
        put_policy(&h, &id, "{}").await;
        h.pass_ms(9_000);
        assert_eq!(h.sweep("budget_reset").await, (1, 0));
        assert_eq!(status(&h, &id).await.next_reset_at, None);
    }

    async fn a_budget_that_cannot_be_read_is_counted_and_the_others_are_reset(h) {
        let broken = BudgetId::new();
        let whole = BudgetId::new();
        for id in [&broken, &whole] {
            h.backend.create_budget(definition(id, &[("tokens", 9, 0)], 1_000)).await.unwrap();
        }
        put_policy(&h, &broken, "[]").await;
        h.pass_ms(1_000);
        assert_eq!(h.sweep("budget_reset").await, (1, 1));
        let told = refusal(h.backend.reset_budget(ResetBudgetArgs { budget_id: broken, now: now(&h) }).await);
        assert!(told.contains("reset_budget: ff_budget_policy.policy_json parse error: "), "{told}");
    }

    async fn a_policy_that_cannot_be_read_stops_what_enforces_it(h) {
        let id = created(&h, &[("tokens", 9, 0)]).await;
        put_policy(&h, &id, "[]").await;
        let text = |op: &str| format!("{op}: ff_budget_policy.policy_json parse error: ");
        let mut keyed = used(&[("tokens", 1)]);
        assert!(refusal(h.backend.report_usage(&garbage(), &id, keyed.clone()).await).contains(&text("report_usage")));
        keyed.dedup_key = Some("k".to_owned());
        let refused = h.backend.report_usage(&garbage(), &id, keyed).await.unwrap_err();
        assert!(matches!(refused, EngineError::Validation { kind: ValidationKind::Corruption, .. }), "{refused}");
        let spending = RecordSpendArgs::new(id.clone(), id_in(1), BTreeMap::from([("tokens".to_owned(), 1)]), "k");
        assert!(refusal(h.backend.record_spend(spending).await).contains(&text("record_spend")));
        let told = refusal(h.backend.read_budget_usage_and_limits(&id).await);
        assert!(told.contains(&text("read_budget_usage_and_limits")), "{told}");
        assert_eq!(keys(&h).await, 0);
        let seen = status(&h, &id).await;
        assert_eq!((seen.hard_limits, seen.soft_limits, seen.usage), Default::default());
    }

    async fn a_policy_with_one_kind_of_limit_or_odd_ones_is_valid(h) {
        let id = created(&h, &[]).await;
        put_policy(&h, &id, r#"{"hard_limits":{"a":10,"b":-1,"c":"1","d":1.5,"e":18446744073709551615}}"#).await;
        assert_eq!(report(&h, &id, &[("b", 5), ("c", 5), ("d", 5), ("e", 5)]).await, ReportUsageResult::Ok);
        assert!(matches!(report(&h, &id, &[("a", 11)]).await, ReportUsageResult::HardBreach { hard_limit: 10, .. }));
        put_policy(&h, &id, r#"{"soft_limits":{"a":1},"hard_limits":[1]}"#).await;
        assert!(matches!(report(&h, &id, &[("a", 11)]).await, ReportUsageResult::SoftBreach { soft_limit: 1, .. }));
    }

    async fn what_is_reserved_or_negative_is_not_shown(h) {
        let id = created(&h, &[("a", 5, 0)]).await;
        report(&h, &id, &[("_init", 1), ("a", 1)]).await;
        h.alter("UPDATE ff_budget_usage SET current_value = -4 WHERE dimensions_key = 'a'").await;
        h.alter("UPDATE ff_budget_policy SET breach_count = -1, soft_breach_count = -1").await;
        let seen = status(&h, &id).await;
        assert_eq!(seen.usage, numbers(&[("a", 0)]));
        assert_eq!((seen.breach_count, seen.soft_breach_count), (0, 0));
    }

    async fn a_scheduler_reads_limits_with_what_was_used(h) {
        assert_eq!(h.backend.read_budget_usage_and_limits(&BudgetId::new()).await.unwrap(), BudgetUsageAndLimits::empty());
        let unlimited = created(&h, &[]).await;
        assert_eq!(h.backend.read_budget_usage_and_limits(&unlimited).await.unwrap(), BudgetUsageAndLimits::empty());
        let id = created(&h, &[("a", 5, 2), ("b", 0, 7)]).await;
        report(&h, &id, &[("a", 1), ("c", 3)]).await;
        let seen = h.backend.read_budget_usage_and_limits(&id).await.unwrap();
        let limits = [("hard:a", "5"), ("hard:b", "0"), ("soft:a", "2"), ("soft:b", "7")];
        assert_eq!(seen.limits, limits.map(|(name, limit)| (name.to_owned(), limit.to_owned())).into());
        assert_eq!(seen.usage, [("a".to_owned(), 1), ("b".to_owned(), 0)].into());
        assert_eq!(seen.hard_limits_with_usage().collect::<Vec<_>>(), [("a", 1, 5)]);
    }

    async fn a_breach_that_nobody_reported_is_noted(h) {
        let id = created(&h, &[("a", 9, 0), ("b", 9, 0)]).await;
        report(&h, &id, &[("a", 5), ("b", 5)]).await;
        let pass = || h.backend.reconcile_budget_counters(partition(&id), TimestampMs::from_millis(T0 + 999_999));
        assert_eq!(pass().await.unwrap(), Default::default());
        put_policy(&h, &id, r#"{"hard_limits":{"b":4,"a":4}}"#).await;
        let done = pass().await.unwrap();
        assert_eq!((done.processed, done.errors), (1, 0));
        let seen = status(&h, &id).await;
        assert_eq!((seen.last_breach_at, seen.last_breach_dim), (Some(T0.to_string()), Some("a".to_owned())));
        assert_eq!(seen.breach_count, 0);
        assert_eq!(pass().await.unwrap(), Default::default());
        put_policy(&h, &id, "{}").await;
        assert_eq!(pass().await.unwrap(), Default::default());
        assert_eq!(status(&h, &id).await.last_breach_dim.as_deref(), Some("a"), "a noted breach stays noted");
        put_policy(&h, &id, "[]").await;
        assert_eq!(pass().await.unwrap().errors, 1);
        assert_eq!(h.sweep("budget_reconciler").await, (0, 1));
    }

    async fn budgets_with_a_period_are_left_to_their_reset(h) {
        let id = BudgetId::new();
        h.backend.create_budget(definition(&id, &[("a", 9, 0)], 1_000)).await.unwrap();
        report(&h, &id, &[("a", 5)]).await;
        put_policy(&h, &id, r#"{"hard_limits":{"a":4},"reset_interval_ms":1000}"#).await;
        assert_eq!(h.backend.reconcile_budget_counters(partition(&id), now(&h)).await.unwrap(), Default::default());
        let beyond = Partition { family: PartitionFamily::Budget, index: 40_000 };
        let told = refusal(h.backend.reconcile_budget_counters(beyond, now(&h)).await);
        assert!(told.contains("partition index 40000 exceeds i16 range (max 32767)"), "{told}");
    }

    async fn reports_from_many_sides_add_up_and_never_pass_the_limit(h) {
        let id = created(&h, &[("a", 0, 0), ("tokens", 50, 0)]).await;
        let mut working = tokio::task::JoinSet::new();
        for worker in 0..8_u64 {
            let (backend, id) = (h.backend.clone(), id.clone());
            working.spawn(async move {
                let mut counted = 0_u64;
                for round in 0..10_u64 {
                    let mut usage = used(&[("a", 1), ("tokens", 1)]);
                    // Each key comes twice, from two workers.
                    usage.dedup_key = (worker >= 4).then(|| format!("{}-{round}", worker % 2));
                    let answer = backend.report_usage(&garbage(), &id, usage).await.unwrap();
                    counted += u64::from(answer == ReportUsageResult::Ok && worker < 4);
                }
                counted
            });
        }
        let unkeyed: u64 = working.join_all().await.into_iter().sum();
        let used = usage(&h, &id).await;
        assert_eq!(used["tokens"], 50);
        assert_eq!(used["a"], 50);
        let keyed = h.number("SELECT count(*) FROM ff_budget_usage_dedup").await;
        assert_eq!(keyed, 20);
        assert!((30..=40).contains(&unkeyed), "{unkeyed}");
    }

    async fn spends_and_releases_from_many_sides_end_at_zero(h) {
        let id = created(&h, &[]).await;
        let mut working = tokio::task::JoinSet::new();
        for worker in 0..6_u16 {
            let (h, id) = (h.clone(), id.clone());
            working.spawn(async move {
                let by = id_in(worker);
                for _ in 0..5 {
                    spend(&h, &id, &by, &[("b", 2), ("a", 1), ("c", 3)], "").await;
                    release(&h, &id, &by).await;
                }
            });
        }
        working.join_all().await;
        assert_eq!(usage(&h, &id).await, numbers(&[("a", 0), ("b", 0), ("c", 0)]));
        assert_eq!(h.number("SELECT count(*) FROM ff_budget_usage_by_exec").await, 0);
    }

    async fn what_has_served_its_time_is_forgotten(h) {
        let id = created(&h, &[]).await;
        report_keyed(&h, &id, &[("a", 1)], "old").await;
        h.alter(&format!(
            "INSERT INTO ff_suspend_dedup (partition_key, idempotency_key, outcome_json, created_at_ms)
             VALUES (0, 'old', '{{}}', {T0}), (0, 'young', '{{}}', {})", T0 + 1_000,
        )).await;
        h.pass_ms(86_400_000);
        assert_eq!(h.sweep("growth").await, (0, 0));
        report_keyed(&h, &id, &[("a", 1)], "young").await;
        h.pass_ms(1);
        assert_eq!(h.sweep("growth").await, (1, 0));
        assert_eq!(h.texts("SELECT dedup_key FROM ff_budget_usage_dedup").await, ["young"]);
        h.clock.set(T0 + 7 * 86_400_000 + 1);
        assert_eq!(h.sweep("growth").await, (2, 0));
        assert_eq!(h.texts("SELECT idempotency_key FROM ff_suspend_dedup").await, ["young"]);
    }
}
