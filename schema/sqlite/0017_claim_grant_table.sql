-- Grants get a table.

CREATE TABLE ff_claim_grant (
    partition_key        INTEGER NOT NULL,
    grant_id             BLOB    NOT NULL,
    execution_id         BLOB    NOT NULL,
    kind                 TEXT    NOT NULL,
    worker_id            TEXT    NOT NULL,
    worker_instance_id   TEXT    NOT NULL,
    lane_id              TEXT,
    capability_hash      TEXT,
    worker_capabilities  TEXT    NOT NULL DEFAULT '[]',
    route_snapshot_json  TEXT,
    admission_summary    TEXT,
    grant_ttl_ms         INTEGER NOT NULL,
    issued_at_ms         INTEGER NOT NULL,
    expires_at_ms        INTEGER NOT NULL,
    PRIMARY KEY (partition_key, grant_id),
    CONSTRAINT ff_claim_grant_kind_check CHECK (kind IN ('claim', 'reclaim'))
);

CREATE INDEX ff_claim_grant_execution_idx
    ON ff_claim_grant (partition_key, execution_id);
CREATE INDEX ff_claim_grant_expiry_idx
    ON ff_claim_grant (expires_at_ms);

ALTER TABLE ff_exec_core ADD COLUMN lease_reclaim_count INTEGER NOT NULL DEFAULT 0;

INSERT INTO ff_migration_annotation (version, name, applied_at_ms, backward_compatible)
VALUES (17, '0017_claim_grant_table', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 1)
ON CONFLICT (version) DO NOTHING;
