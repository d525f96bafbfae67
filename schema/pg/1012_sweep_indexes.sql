-- diglot: no-transaction
-- What the periodic work looks for, in the order in which it becomes due, over all
-- partitions: each index holds only rows that still wait for something.

-- Leases have none of their own here: ff_attempt_lease_expiry_idx holds those that
-- live, which are as few as there are workers, and one more index on ff_attempt
-- would be paid for by every claim.

CREATE INDEX IF NOT EXISTS ff_exec_core_deadline_due_idx
    ON ff_exec_core (deadline_at_ms)
    WHERE deadline_at_ms IS NOT NULL
      AND lifecycle_phase NOT IN ('terminal', 'cancelled');

CREATE INDEX IF NOT EXISTS ff_exec_core_ended_idx
    ON ff_exec_core (terminal_at_ms)
    WHERE terminal_at_ms IS NOT NULL;

CREATE INDEX IF NOT EXISTS ff_suspension_current_due_idx
    ON ff_suspension_current (timeout_at_ms)
    WHERE timeout_at_ms IS NOT NULL;

CREATE INDEX IF NOT EXISTS ff_waitpoint_pending_due_idx
    ON ff_waitpoint_pending (expires_at_ms)
    WHERE expires_at_ms IS NOT NULL;

-- Executions whose state words contradict each other: normally none, so that
-- looking for them costs nothing.
CREATE INDEX IF NOT EXISTS ff_exec_core_inconsistent_idx
    ON ff_exec_core (partition_key, execution_id)
    WHERE (lifecycle_phase = 'active') <> (ownership_state = 'leased')
       OR (lifecycle_phase IN ('terminal', 'cancelled') AND terminal_at_ms IS NULL)
       OR eligibility_state = 'pending_claim';
