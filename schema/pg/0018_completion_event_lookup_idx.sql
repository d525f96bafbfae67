-- Finds the event that belongs to a completion payload.

CREATE INDEX IF NOT EXISTS ff_completion_event_lookup_idx
    ON ff_completion_event (partition_key, execution_id, occurred_at_ms);
