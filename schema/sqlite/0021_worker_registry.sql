-- Workers that are or were alive, and what happened to them. lanes is a sorted list
-- with commas.

CREATE TABLE ff_worker_registry (
    namespace           TEXT    NOT NULL,
    worker_instance_id  TEXT    NOT NULL,
    worker_id           TEXT    NOT NULL,
    lanes               TEXT    NOT NULL,
    capabilities_csv    TEXT    NOT NULL,
    last_heartbeat_ms   INTEGER NOT NULL,
    liveness_ttl_ms     INTEGER NOT NULL,
    registered_at_ms    INTEGER NOT NULL,
    PRIMARY KEY (namespace, worker_instance_id)
);

CREATE INDEX ff_worker_registry_ns_inst_idx
    ON ff_worker_registry (namespace, worker_instance_id);

CREATE TABLE ff_worker_registry_event (
    namespace           TEXT    NOT NULL,
    worker_instance_id  TEXT    NOT NULL,
    event_kind          TEXT    NOT NULL,
    event_at_ms         INTEGER NOT NULL,
    reason              TEXT,
    PRIMARY KEY (namespace, worker_instance_id, event_at_ms)
);
