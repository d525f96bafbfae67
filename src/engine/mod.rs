//! The engine's operations, written once and generic over the dialect.
//!
//! | File | Operations |
//! |---|---|
//! | `execution` | `create_execution`, `read_execution_state`, `get_execution_result`, `read_execution_context`, `read_current_attempt_index`, `read_total_attempt_count`, `get_execution_namespace`, `resolve_execution_flow_id`, `read_exec_core_fields`, `list_executions`, `list_lanes` |
//! | `describe` | `describe_execution`, `read_execution_info` |
//! | `lease` | `claim`, `renew`, `claim_from_resume_grant`, `list_expired_leases` |
//! | `attempt` | `progress`, `complete`, `fail`, `cancel`, `delay`, `wait_children` |
//! | `stream` | `append_frame`, `read_stream`, `tail_stream`, `read_summary` |
//! | `secret` | `seed_waitpoint_hmac_secret`, `rotate_waitpoint_hmac_secret_all` |
//! | `suspend` | `suspend`, `suspend_by_triple`, `list_suspended` |
//! | `waitpoint` | `create_waitpoint`, `read_waitpoint_token`, `list_pending_waitpoints`, `close_waitpoint` |
//! | `signal` | `deliver_signal`, `deliver_approval_signal`, `observe_signals` |
//! | `resume` | `claim_resumed_execution`, `resume_execution`, `expire_suspension` |
//! | `tag` | `set_execution_tag`, `get_execution_tag`, `set_flow_tag`, `get_flow_tag` |
//! | `reclaim` | `issue_reclaim_grant`, `reclaim_execution` |
//! | `flow` | `create_flow`, `add_execution_to_flow`, `describe_flow`, `list_flows`, `project_flow_summary` |
//! | `flow_cancel` | `cancel_flow`, `cancel_flow_header`, `ack_cancel_member` |
//! | `edge` | `stage_dependency_edge`, `apply_dependency_to_child`, `set_edge_group_policy`, `list_edges`, `describe_edge` |
//! | `take` | `claim_execution`, `issue_grant_and_claim` |
//! | `give_back` | claims whose caller went away |
//! | `operator` | `cancel_execution`, `revoke_lease`, `change_priority`, `replay_execution` |
//! | `expiry` | `mark_lease_expired_if_due`, `expire_execution`, `promote_delayed`, `reconcile_execution_index`, the sweeps of what is due |
//! | `trim` | `trim_retention` and its sweep |
//! | `typed` | `renew_lease`, `complete_execution`, `fail_execution` |
//! | `worker` | `register_worker`, `heartbeat_worker`, `mark_worker_dead`, `list_workers`, the sweep of lapsed workers |
//! | `budget` | `create_budget`, `reset_budget`, `get_budget_status`, `read_budget_usage_and_limits`, `report_usage`, `report_usage_admin`, `record_spend`, `release_budget` |
//! | `quota` | `create_quota_policy`, `read_quota_policy_limits`, `check_admission`, `release_admission` |
//! | `admission` | `block_execution_for_admission`, `block_route`, `unblock_execution` |
//! | `unblock` | the sweep that puts blocked executions back |
//! | `upkeep` | `reconcile_budget_counters`, `reconcile_quota_counters`, the resets of budgets |
//! | `retention` | the sweep of what has served its time |
//! | `schedule` | `evaluate_flow_eligibility`, `scan_eligible_executions`, `issue_claim_grant`, `claim_for_worker`, the release of expired grants |
//! | `server` | `ping`, `server_time_ms` |
//! | `dependency` | `cascade_completion`, `resolve_dependency`, following completions as they happen and those that were forgotten |
//! | `hop` | the one step of following: an edge is counted, its group decided |
//! | `sibling` | `drain_sibling_cancel_group`, `reconcile_sibling_cancel_group`, cancelling what a satisfied group no longer needs |
//! | `seize` | the locks of sweeps, which wait for nobody |
//! | `policy/` | decisions without a database: retries, reclaims, resume conditions, timeouts, append rates, dependency groups, the ages of flows |
//!
//! There is no SQL here, no transaction except through [`crate::db::Db`], and nothing that asks which
//! dialect it runs on. Text that names a state is turned into an enum, and back, in [`crate::model`].

/// One atomic generated call: `unit!(backend, lease_renew, params)`. Given a closure as well, it lists what to
/// tell after the commit: `|row, wakes| wakes.lease(row.lease_event_id, partition_key)`, asked only when there
/// is a row.
macro_rules! unit {
    ($backend:expr, $statement:ident, $params:expr) => {
        $backend
            .db()
            .unit(
                stringify!($statement),
                $params,
                |conn, params| Box::pin(crate::statements::Statements::$statement(conn, params)),
                crate::db::silent,
            )
            .await
    };
    ($backend:expr, $statement:ident, $params:expr, |$row:ident, $wakes:ident| $tell:expr) => {
        $backend
            .db()
            .unit(
                stringify!($statement),
                $params,
                |conn, params| Box::pin(crate::statements::Statements::$statement(conn, params)),
                move |_, row, $wakes| {
                    if let Some($row) = row {
                        $tell;
                    }
                },
            )
            .await
    };
}

/// One generated read outside a transaction: `read!(backend, execution_read, params)`.
macro_rules! read {
    ($backend:expr, $statement:ident) => {
        $backend
            .db()
            .read(stringify!($statement), (), |conn, ()| Box::pin(crate::statements::Statements::$statement(conn)))
            .await
    };
    ($backend:expr, $statement:ident, $params:expr) => {
        $backend
            .db()
            .read(stringify!($statement), $params, |conn, params| {
                Box::pin(crate::statements::Statements::$statement(conn, params))
            })
            .await
    };
}

/// One generated read of every partition: `survey!(backend, event_completion_page, params)`.
macro_rules! survey {
    ($backend:expr, $statement:ident, $params:expr) => {
        $backend
            .db()
            .survey(stringify!($statement), $params, |conn, params| {
                Box::pin(crate::statements::Statements::$statement(conn, params))
            })
            .await
    };
}

/// Several generated calls in one transaction. The names in brackets are lent to every try; the second
/// closure, if given, lists what to tell after the commit:
/// `transaction!(backend, "cancel", [lock, cancel], |conn| { .. }, |answer, wakes| ..)`.
macro_rules! transaction {
    ($backend:expr, $name:literal, [$($lent:ident),* $(,)?], |$conn:ident| $body:block) => {
        $backend
            .db()
            .write(
                $name,
                ($($lent,)*),
                move |$conn, ($($lent,)*)| Box::pin(async move { $body }),
                crate::db::silent,
            )
            .await
    };
    (
        $backend:expr, $name:literal, [$($lent:ident),* $(,)?],
        |$conn:ident| $body:block, |$answer:ident, $wakes:ident| $tell:expr
    ) => {
        $backend
            .db()
            .write(
                $name,
                ($($lent,)*),
                move |$conn, ($($lent,)*)| Box::pin(async move { $body }),
                move |_, $answer, $wakes| $tell,
            )
            .await
    };
}

/// The parameters of a statement that is fenced by a handle.
macro_rules! fenced {
    ($noun:ident :: $params:ident, $held:expr, $now_ms:expr $(, $field:ident : $value:expr)* $(,)?) => {
        $noun::$params {
            partition_key: $held.key.partition_key,
            execution_id: $held.key.execution_id,
            attempt_index: $held.attempt_index,
            lease_epoch: $held.lease_epoch,
            execution_text: $held.key.text(),
            lease_id: $held.lease_id(),
            now_ms: $now_ms,
            $($field: $value,)*
        }
    };
}

pub(crate) mod admission;
pub(crate) mod attempt;
pub(crate) mod budget;
pub(crate) mod dependency;
pub(crate) mod describe;
pub(crate) mod edge;
pub(crate) mod execution;
pub(crate) mod expiry;
pub(crate) mod flow;
pub(crate) mod flow_cancel;
pub(crate) mod give_back;
pub(crate) mod hop;
pub(crate) mod lease;
pub(crate) mod operator;
pub(crate) mod policy;
pub(crate) mod quota;
pub(crate) mod reclaim;
pub(crate) mod resume;
pub(crate) mod retention;
pub(crate) mod schedule;
pub(crate) mod secret;
pub(crate) mod seize;
pub(crate) mod server;
pub(crate) mod sibling;
pub(crate) mod signal;
pub(crate) mod stream;
pub(crate) mod suspend;
pub(crate) mod tag;
pub(crate) mod take;
pub(crate) mod trim;
pub(crate) mod typed;
pub(crate) mod unblock;
pub(crate) mod upkeep;
pub(crate) mod waitpoint;
pub(crate) mod worker;
