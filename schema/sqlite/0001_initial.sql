-- Base tables. partition_key is an ordinary leading key column here.

CREATE TABLE ff_waitpoint_hmac (
    kid            TEXT    NOT NULL,
    secret         BLOB    NOT NULL,
    rotated_at_ms  INTEGER NOT NULL,
    active         INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (kid)
);

CREATE TABLE ff_lane_registry (
    lane_id           TEXT    NOT NULL,
    registered_at_ms  INTEGER NOT NULL,
    registered_by     TEXT    NOT NULL,
    PRIMARY KEY (lane_id)
);

CREATE TABLE ff_partition_config (
    singleton_lock         INTEGER NOT NULL DEFAULT 1,
    num_flow_partitions    INTEGER NOT NULL,
    num_budget_partitions  INTEGER NOT NULL,
    num_quota_partitions   INTEGER NOT NULL,
    ff_version             TEXT    NOT NULL,
    PRIMARY KEY (singleton_lock),
    CHECK (singleton_lock = 1)
);

CREATE TABLE ff_migration_annotation (
    version              INTEGER NOT NULL,
    name                 TEXT    NOT NULL,
    applied_at_ms        INTEGER NOT NULL,
    backward_compatible  INTEGER NOT NULL,
    PRIMARY KEY (version)
);

CREATE TABLE ff_exec_core (
    partition_key          INTEGER NOT NULL,
    execution_id           BLOB    NOT NULL,
    flow_id                BLOB,
    lane_id                TEXT    NOT NULL,
    attempt_index          INTEGER NOT NULL DEFAULT 0,
    lifecycle_phase        TEXT    NOT NULL,
    ownership_state        TEXT    NOT NULL,
    eligibility_state      TEXT    NOT NULL,
    public_state           TEXT    NOT NULL,
    attempt_state          TEXT    NOT NULL,
    blocking_reason        TEXT,
    cancellation_reason    TEXT,
    cancelled_by           TEXT,
    priority               INTEGER NOT NULL DEFAULT 0,
    created_at_ms          INTEGER NOT NULL,
    terminal_at_ms         INTEGER,
    deadline_at_ms         INTEGER,
    payload                BLOB,
    result                 BLOB,
    policy                 TEXT,
    raw_fields             TEXT    NOT NULL DEFAULT '{}',
    PRIMARY KEY (partition_key, execution_id)
);

CREATE INDEX ff_exec_core_lane_phase_idx
    ON ff_exec_core (partition_key, lane_id, lifecycle_phase);
CREATE INDEX ff_exec_core_flow_idx
    ON ff_exec_core (partition_key, flow_id) WHERE flow_id IS NOT NULL;
CREATE INDEX ff_exec_core_deadline_idx
    ON ff_exec_core (partition_key, deadline_at_ms) WHERE deadline_at_ms IS NOT NULL;

-- What a worker must offer to run an execution, one row per token: there are no
-- array columns here.
CREATE TABLE ff_execution_capabilities (
    execution_id  BLOB NOT NULL,
    capability    TEXT NOT NULL,
    PRIMARY KEY (execution_id, capability)
) WITHOUT ROWID;

CREATE INDEX ff_execution_capabilities_capability_idx
    ON ff_execution_capabilities (capability, execution_id);

CREATE TABLE ff_flow_core (
    partition_key      INTEGER NOT NULL,
    flow_id            BLOB    NOT NULL,
    graph_revision     INTEGER NOT NULL DEFAULT 0,
    public_flow_state  TEXT    NOT NULL,
    created_at_ms      INTEGER NOT NULL,
    terminal_at_ms     INTEGER,
    raw_fields         TEXT    NOT NULL DEFAULT '{}',
    PRIMARY KEY (partition_key, flow_id)
);

CREATE TABLE ff_attempt (
    partition_key        INTEGER NOT NULL,
    execution_id         BLOB    NOT NULL,
    attempt_index        INTEGER NOT NULL,
    worker_id            TEXT,
    worker_instance_id   TEXT,
    lease_epoch          INTEGER NOT NULL DEFAULT 0,
    lease_expires_at_ms  INTEGER,
    started_at_ms        INTEGER,
    terminal_at_ms       INTEGER,
    outcome              TEXT,
    usage                TEXT,
    policy               TEXT,
    raw_fields           TEXT    NOT NULL DEFAULT '{}',
    PRIMARY KEY (partition_key, execution_id, attempt_index)
);

CREATE INDEX ff_attempt_lease_expiry_idx
    ON ff_attempt (partition_key, lease_expires_at_ms) WHERE lease_expires_at_ms IS NOT NULL;
CREATE INDEX ff_attempt_worker_idx
    ON ff_attempt (partition_key, worker_id) WHERE worker_id IS NOT NULL;

CREATE TABLE ff_edge (
    partition_key   INTEGER NOT NULL,
    flow_id         BLOB    NOT NULL,
    edge_id         BLOB    NOT NULL,
    upstream_eid    BLOB    NOT NULL,
    downstream_eid  BLOB    NOT NULL,
    policy          TEXT    NOT NULL,
    policy_version  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (partition_key, flow_id, edge_id)
);

CREATE INDEX ff_edge_downstream_idx
    ON ff_edge (partition_key, flow_id, downstream_eid);
CREATE INDEX ff_edge_upstream_idx
    ON ff_edge (partition_key, flow_id, upstream_eid);

CREATE TABLE ff_edge_group (
    partition_key                    INTEGER NOT NULL,
    flow_id                          BLOB    NOT NULL,
    downstream_eid                   BLOB    NOT NULL,
    policy                           TEXT    NOT NULL,
    k_target                         INTEGER NOT NULL DEFAULT 0,
    success_count                    INTEGER NOT NULL DEFAULT 0,
    fail_count                       INTEGER NOT NULL DEFAULT 0,
    skip_count                       INTEGER NOT NULL DEFAULT 0,
    running_count                    INTEGER NOT NULL DEFAULT 0,
    cancel_siblings_pending_flag     INTEGER NOT NULL DEFAULT 0,
    cancel_siblings_pending_members  TEXT    NOT NULL DEFAULT '[]',
    PRIMARY KEY (partition_key, flow_id, downstream_eid)
);

CREATE TABLE ff_pending_cancel_groups (
    partition_key   INTEGER NOT NULL,
    flow_id         BLOB    NOT NULL,
    downstream_eid  BLOB    NOT NULL,
    enqueued_at_ms  INTEGER NOT NULL,
    PRIMARY KEY (partition_key, flow_id, downstream_eid)
);

CREATE INDEX ff_pending_cancel_groups_enqueued_idx
    ON ff_pending_cancel_groups (partition_key, enqueued_at_ms);

CREATE TABLE ff_cancel_dispatch_outbox (
    partition_key   INTEGER NOT NULL,
    flow_id         BLOB    NOT NULL,
    downstream_eid  BLOB    NOT NULL,
    target_exec_id  BLOB    NOT NULL,
    reason          TEXT    NOT NULL,
    enqueued_at_ms  INTEGER NOT NULL,
    PRIMARY KEY (partition_key, flow_id, downstream_eid, target_exec_id)
);

CREATE INDEX ff_cancel_dispatch_outbox_enqueued_idx
    ON ff_cancel_dispatch_outbox (partition_key, enqueued_at_ms);

CREATE TABLE ff_suspension_current (
    partition_key    INTEGER NOT NULL,
    execution_id     BLOB    NOT NULL,
    suspension_id    BLOB    NOT NULL,
    suspended_at_ms  INTEGER NOT NULL,
    timeout_at_ms    INTEGER,
    reason_code      TEXT,
    condition        TEXT    NOT NULL,
    satisfied_set    TEXT    NOT NULL DEFAULT '[]',
    member_map       TEXT    NOT NULL DEFAULT '{}',
    PRIMARY KEY (partition_key, execution_id)
);

CREATE INDEX ff_suspension_current_suspended_at_idx
    ON ff_suspension_current (partition_key, suspended_at_ms);
CREATE INDEX ff_suspension_current_timeout_idx
    ON ff_suspension_current (partition_key, timeout_at_ms) WHERE timeout_at_ms IS NOT NULL;

CREATE TABLE ff_waitpoint_pending (
    partition_key  INTEGER NOT NULL,
    waitpoint_id   BLOB    NOT NULL,
    execution_id   BLOB    NOT NULL,
    token_kid      TEXT    NOT NULL,
    token          TEXT    NOT NULL,
    created_at_ms  INTEGER NOT NULL,
    expires_at_ms  INTEGER,
    condition      TEXT,
    PRIMARY KEY (partition_key, waitpoint_id)
);

CREATE INDEX ff_waitpoint_pending_expires_idx
    ON ff_waitpoint_pending (partition_key, expires_at_ms) WHERE expires_at_ms IS NOT NULL;
CREATE INDEX ff_waitpoint_pending_exec_idx
    ON ff_waitpoint_pending (partition_key, execution_id);

-- Keeps its rowid: it names a frame in the wake-ups inside the process.
CREATE TABLE ff_stream_frame (
    partition_key  INTEGER NOT NULL,
    execution_id   BLOB    NOT NULL,
    attempt_index  INTEGER NOT NULL,
    ts_ms          INTEGER NOT NULL,
    seq            INTEGER NOT NULL,
    fields         TEXT    NOT NULL,
    mode           TEXT    NOT NULL,
    created_at_ms  INTEGER NOT NULL,
    PRIMARY KEY (partition_key, execution_id, attempt_index, ts_ms, seq)
);

CREATE TABLE ff_stream_summary (
    partition_key     INTEGER NOT NULL,
    execution_id      BLOB    NOT NULL,
    attempt_index     INTEGER NOT NULL,
    document_json     TEXT    NOT NULL,
    version           INTEGER NOT NULL DEFAULT 0,
    patch_kind        TEXT,
    last_updated_ms   INTEGER NOT NULL,
    first_applied_ms  INTEGER NOT NULL,
    PRIMARY KEY (partition_key, execution_id, attempt_index)
);

CREATE TABLE ff_stream_meta (
    partition_key        INTEGER NOT NULL,
    execution_id         BLOB    NOT NULL,
    attempt_index        INTEGER NOT NULL,
    ema_rate_hz          REAL    NOT NULL DEFAULT 0,
    last_append_ts_ms    INTEGER NOT NULL DEFAULT 0,
    maxlen_applied_last  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (partition_key, execution_id, attempt_index)
);

-- AUTOINCREMENT must be the whole key, so the pair of the other dialect's key is
-- a unique index.
CREATE TABLE ff_completion_event (
    partition_key    INTEGER NOT NULL,
    event_id         INTEGER PRIMARY KEY AUTOINCREMENT,
    execution_id     BLOB    NOT NULL,
    flow_id          BLOB,
    outcome          TEXT    NOT NULL,
    namespace        TEXT,
    instance_tag     TEXT,
    occurred_at_ms   INTEGER NOT NULL,
    committed_at_ms  INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))
);

CREATE UNIQUE INDEX ff_completion_event_partition_event_idx
    ON ff_completion_event (partition_key, event_id);

INSERT INTO ff_partition_config
    (singleton_lock, num_flow_partitions, num_budget_partitions, num_quota_partitions, ff_version)
VALUES (1, 1, 1, 1, '0.12.0')
ON CONFLICT (singleton_lock) DO NOTHING;

INSERT INTO ff_migration_annotation (version, name, applied_at_ms, backward_compatible)
VALUES (1, '0001_initial', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 0)
ON CONFLICT (version) DO NOTHING;
