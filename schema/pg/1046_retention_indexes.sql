-- diglot: no-transaction
-- So that the sweep finds what is old without reading what is not.

CREATE INDEX IF NOT EXISTS ff_flow_core_created_idx
    ON ff_flow_core (created_at_ms);

CREATE INDEX IF NOT EXISTS ff_worker_registry_event_at_idx
    ON ff_worker_registry_event (event_at_ms);
