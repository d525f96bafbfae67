-- diglot: no-transaction
-- Finds the ends of a flow's members that nobody has followed yet, among any
-- number of other completions.

CREATE INDEX IF NOT EXISTS ff_completion_event_unfollowed_idx
    ON ff_completion_event (event_id) WHERE dispatched_at_ms IS NULL AND flow_id IS NOT NULL;
