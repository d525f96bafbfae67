-- diglot: no-transaction
-- Executions that wait for a budget, a quota or a worker, for the sweep that lets them go.

CREATE INDEX IF NOT EXISTS ff_exec_core_blocked_idx
    ON ff_exec_core (partition_key, execution_id)
    WHERE eligibility_state IN ('blocked_by_budget', 'blocked_by_quota', 'blocked_by_route');
