-- The same rows by another condition: for a list of more than two words SQLite
-- fills a table in memory, twice for every update of an execution.

DROP INDEX ff_exec_core_blocked_idx;

CREATE INDEX ff_exec_core_blocked_idx
    ON ff_exec_core (partition_key, execution_id)
    WHERE (eligibility_state = 'blocked_by_budget'
           OR eligibility_state = 'blocked_by_quota'
           OR eligibility_state = 'blocked_by_route');
