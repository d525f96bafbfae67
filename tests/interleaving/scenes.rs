//! The states that pairs of operations begin in, and the operations of each.
//!
//! States and operations are steps of the model test, whose numbers mean what their operation makes of them; zeros
//! name what is newest.

use crate::numbers::PER_STEP;
use crate::operations;

/// The name of an operation, and its numbers.
pub(crate) type Step = (&'static str, [u8; PER_STEP]);

/// A state, and what is played in it against one another.
pub(crate) struct Scene {
    pub(crate) name: &'static str,
    pub(crate) before: &'static [Step],
    pub(crate) steps: &'static [Step],
}

impl Scene {
    /// The steps of the scene and every other operation that writes, plainly.
    pub(crate) fn all_steps(&self) -> Vec<Step> {
        let mut steps = self.steps.to_vec();
        let others = operations::names().filter(|name| !APART.contains(name) && *name != "sweep").map(plain);
        steps.extend(others.chain((0..SWEEPS).map(sweep)).filter(|step| !self.steps.contains(step)));
        steps
    }
}

/// How many sweeps there are.
const SWEEPS: u8 = 15;

/// Operations that only read, that are several, and that pass time.
const APART: [&str; 26] = [
    "a_claimed_execution",
    "a_flow_of_four",
    "a_group_whose_first_member_ended",
    "a_suspended_execution",
    "an_execution_to_reclaim",
    "evaluate_flow_eligibility",
    "follow",
    "get_execution_tag",
    "keep_using_a_spent_handle",
    "list_executions",
    "list_expired_leases",
    "list_lanes",
    "list_pending_waitpoints",
    "list_suspended",
    "list_workers",
    "observe_signals",
    "pass_time",
    "read_attempts",
    "read_budget",
    "read_edges",
    "read_exec_core_fields",
    "read_execution",
    "read_flow",
    "read_quota_policy_limits",
    "read_stream",
    "the_other_member_ends",
];

const fn plain(name: &'static str) -> Step {
    (name, [0; PER_STEP])
}

/// The sweep of that number in the model test's list.
const fn sweep(number: u8) -> Step {
    ("sweep", [3, number, 0, 0, 0, 0, 0, 0])
}

const ATTEMPT_TIMEOUTS: Step = sweep(0);
const LEASES: Step = sweep(1);
const DELAYED: Step = sweep(2);
const SUSPENSIONS: Step = sweep(3);
const DEADLINES: Step = sweep(4);
const SIBLINGS: Step = sweep(5);
const LOST_SIBLINGS: Step = sweep(6);
const GRANTS: Step = sweep(7);
const INDEX: Step = sweep(8);
const BUDGETS: Step = sweep(9);
const RESETS: Step = sweep(10);
const QUOTAS: Step = sweep(11);
const WORKERS: Step = sweep(12);
const RETENTION: Step = sweep(14);

const CREATE: Step = plain("create");
const CREATE_DELAYED: Step = ("create", [0, 1, 0, 0, 0, 0, 0, 0]);
const CREATE_WITH_DEADLINE: Step = ("create", [0, 2, 0, 0, 0, 0, 0, 0]);
const CREATE_WITH_RETRIES: Step = ("create", [0, 6, 0, 0, 0, 0, 0, 0]);
const CLAIM: Step = plain("claim");
const CLAIM_AS_B: Step = ("claim", [1, 0, 0, 0, 0, 0, 0, 0]);
const GRANT: Step = plain("issue_claim_grant");
const GRANT_TO_B: Step = ("issue_claim_grant", [0, 0, 0, 1, 0, 0, 0, 0]);
const OPERATOR_CANCELS: Step = ("cancel_execution", [0, 2, 0, 2, 0, 0, 0, 0]);
const FAIL: Step = plain("fail");
const FAIL_FOR_GOOD: Step = ("fail", [0, 0, 0, 1, 0, 0, 0, 0]);
const EXPIRE_AT_DEADLINE: Step = ("expire_execution", [0, 0, 0, 0, 1, 0, 0, 0]);
const SECRET: Step = plain("seed_secret");
const AFTER_A_SECOND: Step = ("pass_time", [3, 0, 0, 0, 0, 0, 0, 0]);
const AFTER_FIVE_SECONDS: Step = ("pass_time", [4, 0, 0, 0, 0, 0, 0, 0]);
const AFTER_HALF_A_MINUTE: Step = ("pass_time", [5, 0, 0, 0, 0, 0, 0, 0]);
const AFTER_A_MINUTE: Step = ("pass_time", [6, 0, 0, 0, 0, 0, 0, 0]);
const AFTER_TEN_MINUTES: Step = ("pass_time", [7, 0, 0, 0, 0, 0, 0, 0]);
const GO: Step = plain("deliver_signal");
const OTHER_SIGNAL: Step = ("deliver_signal", [0, 0, 0, 0, 2, 0, 0, 0]);
/// An edge from the oldest of four members to the second.
const STAGE: Step = ("stage_dependency_edge", [0, 3, 0, 0, 2, 0, 0, 0]);
const ANY_OF_FOUR: Step = ("a_flow_of_four", [1, 0, 0, 0, 0, 0, 0, 0]);

/// Every state.
pub(crate) const SCENES: &[Scene] = &[
    Scene {
        name: "an execution waits",
        before: &[SECRET, CREATE],
        steps: &[
            CLAIM,
            CLAIM_AS_B,
            OPERATOR_CANCELS,
            GRANT,
            INDEX,
            plain("block_execution_for_admission"),
            plain("block_route"),
            plain("change_priority"),
            plain("claim_for_worker"),
            plain("create"),
            plain("issue_grant_and_claim"),
            plain("set_execution_tag"),
        ],
    },
    Scene {
        name: "two executions wait",
        before: &[SECRET, CREATE, CREATE],
        steps: &[CLAIM, CLAIM_AS_B, OPERATOR_CANCELS, plain("change_priority"), plain("claim_for_worker")],
    },
    Scene {
        name: "there is no secret yet",
        before: &[CREATE, CREATE],
        steps: &[SECRET, plain("claim_for_worker"), plain("rotate_secret")],
    },
    Scene {
        name: "an execution is granted",
        before: &[CREATE, GRANT],
        steps: &[
            CLAIM_AS_B,
            OPERATOR_CANCELS,
            GRANT_TO_B,
            plain("block_execution_for_admission"),
            plain("change_priority"),
            plain("claim_execution"),
            plain("claim_for_worker"),
            plain("issue_grant_and_claim"),
        ],
    },
    Scene {
        name: "a grant has run out",
        before: &[CREATE, GRANT, AFTER_HALF_A_MINUTE],
        steps: &[CLAIM_AS_B, OPERATOR_CANCELS, GRANT_TO_B, GRANTS, plain("change_priority"), plain("claim_execution")],
    },
    Scene {
        name: "a delayed execution is due",
        before: &[CREATE_DELAYED, AFTER_A_SECOND],
        steps: &[
            CLAIM,
            OPERATOR_CANCELS,
            DELAYED,
            GRANT,
            plain("block_execution_for_admission"),
            plain("change_priority"),
            plain("issue_grant_and_claim"),
            plain("promote_delayed"),
        ],
    },
    Scene {
        name: "an execution is blocked",
        before: &[CREATE, plain("block_execution_for_admission")],
        steps: &[CLAIM, OPERATOR_CANCELS, INDEX, plain("change_priority"), plain("unblock_execution")],
    },
    Scene {
        name: "an execution runs",
        before: &[SECRET, CREATE, CLAIM],
        steps: &[
            FAIL,
            FAIL_FOR_GOOD,
            OPERATOR_CANCELS,
            plain("append"),
            plain("cancel"),
            plain("cancel_execution"),
            plain("change_priority"),
            plain("complete"),
            plain("complete_execution"),
            plain("create_waitpoint"),
            plain("delay"),
            plain("fail_execution"),
            plain("progress"),
            plain("renew"),
            plain("renew_lease"),
            plain("revoke_lease"),
            plain("suspend"),
            plain("suspend_by_triple"),
        ],
    },
    Scene {
        name: "an execution runs that may be tried again",
        before: &[SECRET, CREATE_WITH_RETRIES, CLAIM],
        steps: &[CLAIM_AS_B, FAIL, OPERATOR_CANCELS, plain("complete"), plain("revoke_lease"), plain("suspend")],
    },
    Scene {
        name: "a lease has run out",
        before: &[SECRET, CREATE_WITH_RETRIES, CLAIM, AFTER_HALF_A_MINUTE],
        steps: &[
            ATTEMPT_TIMEOUTS,
            FAIL,
            LEASES,
            OPERATOR_CANCELS,
            plain("append"),
            plain("complete"),
            plain("expire_execution"),
            plain("issue_reclaim_grant"),
            plain("mark_lease_expired_if_due"),
            plain("renew"),
            plain("revoke_lease"),
            plain("suspend"),
        ],
    },
    Scene {
        name: "a deadline has passed",
        before: &[CREATE_WITH_DEADLINE, CLAIM, AFTER_A_MINUTE],
        steps: &[DEADLINES, EXPIRE_AT_DEADLINE, FAIL, LEASES, OPERATOR_CANCELS, plain("complete"), plain("renew")],
    },
    Scene {
        name: "a worker may take over",
        before: &[CREATE, plain("an_execution_to_reclaim")],
        steps: &[
            OPERATOR_CANCELS,
            plain("change_priority"),
            plain("issue_reclaim_grant"),
            plain("reclaim_execution"),
            plain("renew"),
            LEASES,
            GRANTS,
        ],
    },
    Scene {
        name: "an execution is suspended",
        before: &[SECRET, plain("a_suspended_execution")],
        steps: &[
            GO,
            OPERATOR_CANCELS,
            OTHER_SIGNAL,
            plain("close_waitpoint"),
            plain("deliver_approval_signal"),
            plain("resume_execution"),
            plain("rotate_secret"),
        ],
    },
    Scene {
        name: "a suspension has run out",
        before: &[SECRET, ("a_suspended_execution", [0, 3, 0, 0, 0, 0, 0, 0]), AFTER_A_SECOND],
        steps: &[
            GO,
            OPERATOR_CANCELS,
            SUSPENSIONS,
            plain("close_waitpoint"),
            plain("expire_suspension"),
            plain("resume_execution"),
        ],
    },
    Scene {
        name: "an execution is resumed",
        before: &[SECRET, plain("a_suspended_execution"), GO],
        steps: &[
            CLAIM_AS_B,
            GO,
            OPERATOR_CANCELS,
            plain("change_priority"),
            plain("claim_from_resume_grant"),
            ("claim_from_resume_grant", [0, 0, 0, 1, 0, 0, 0, 0]),
            plain("claim_resumed_execution"),
            ("claim_resumed_execution", [0, 0, 0, 1, 0, 0, 0, 0]),
        ],
    },
    Scene {
        name: "a resumed execution's lease has run out",
        before: &[SECRET, plain("a_suspended_execution"), GO, plain("claim_resumed_execution"), AFTER_HALF_A_MINUTE],
        steps: &[LEASES, plain("claim_from_resume_grant"), plain("complete"), plain("renew"), plain("renew_lease")],
    },
    Scene {
        name: "a flow's first member runs",
        before: &[plain("create_flow"), plain("a_flow_of_four"), STAGE, CLAIM],
        steps: &[
            CLAIM_AS_B,
            FAIL_FOR_GOOD,
            OPERATOR_CANCELS,
            STAGE,
            plain("ack_cancel_member"),
            plain("add_execution_to_flow"),
            plain("apply_dependency_to_child"),
            plain("cancel_flow"),
            plain("cancel_flow_header"),
            plain("change_priority"),
            plain("complete"),
            plain("project_flow_summary"),
            plain("resolve_dependency"),
            plain("set_edge_group_policy"),
            plain("set_flow_tag"),
        ],
    },
    Scene {
        name: "a flow is cancelled while a member runs",
        before: &[plain("create_flow"), plain("a_flow_of_four"), CLAIM, plain("cancel_flow_header")],
        steps: &[
            FAIL_FOR_GOOD,
            OPERATOR_CANCELS,
            plain("ack_cancel_member"),
            plain("cancel"),
            plain("cancel_flow"),
            plain("complete"),
        ],
    },
    Scene {
        name: "any of two members is enough",
        before: &[plain("create_flow"), ANY_OF_FOUR, CLAIM, CLAIM_AS_B],
        steps: &[
            FAIL_FOR_GOOD,
            ("complete", [0, 0, 1, 0, 0, 0, 0, 0]),
            plain("cancel_flow"),
            plain("complete"),
            plain("resolve_dependency"),
            SIBLINGS,
        ],
    },
    Scene {
        name: "a group is satisfied",
        before: &[plain("create_flow"), plain("a_group_whose_first_member_ended")],
        steps: &[
            CLAIM,
            LOST_SIBLINGS,
            SIBLINGS,
            plain("cancel_flow"),
            plain("change_priority"),
            plain("drain_sibling_cancel_group"),
            plain("reconcile_sibling_cancel_group"),
        ],
    },
    Scene {
        name: "a budget is spent from",
        before: &[CREATE, CLAIM, plain("create_budget"), plain("record_spend"), AFTER_FIVE_SECONDS],
        steps: &[
            BUDGETS,
            RESETS,
            ("record_spend", [0, 0, 0, 0, 1, 0, 1, 0]),
            ("report_usage", [0, 0, 0, 0, 1, 0, 0, 0]),
            ("report_usage_admin", [0, 1, 0, 0, 0, 0, 0, 0]),
            plain("record_spend"),
            plain("reconcile_budget_counters"),
            plain("release_budget"),
            plain("report_usage"),
            plain("reset_budget"),
        ],
    },
    Scene {
        name: "a quota admits",
        before: &[CREATE, CREATE, plain("create_quota_policy"), plain("check_admission")],
        steps: &[
            QUOTAS,
            ("check_admission", [0, 0, 0, 1, 0, 0, 0, 0]),
            plain("check_admission"),
            plain("create_quota_policy"),
            plain("reconcile_quota_counters"),
            plain("release_admission"),
        ],
    },
    Scene {
        name: "a worker is gone",
        before: &[plain("register_worker"), AFTER_TEN_MINUTES],
        steps: &[WORKERS, plain("heartbeat_worker"), plain("mark_worker_dead"), plain("register_worker")],
    },
    Scene {
        name: "an execution has ended",
        before: &[CREATE, CLAIM, plain("complete"), AFTER_TEN_MINUTES],
        steps: &[
            OPERATOR_CANCELS,
            RETENTION,
            plain("change_priority"),
            plain("replay_execution"),
            plain("set_execution_tag"),
            plain("trim_retention"),
        ],
    },
];
