-- diglot: no-transaction
-- So that forgetting an execution finds what is kept about it elsewhere without reading all of it.

CREATE INDEX IF NOT EXISTS ff_budget_usage_by_exec_execution_idx
    ON ff_budget_usage_by_exec (execution_id);

CREATE INDEX IF NOT EXISTS ff_cancel_backlog_member_execution_idx
    ON ff_cancel_backlog_member (execution_id);
