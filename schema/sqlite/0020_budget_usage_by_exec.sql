-- What each execution has taken from a budget, so that it can be given back.

CREATE TABLE ff_budget_usage_by_exec (
    partition_key   INTEGER NOT NULL,
    budget_id       TEXT    NOT NULL,
    execution_id    TEXT    NOT NULL,
    dimensions_key  TEXT    NOT NULL,
    delta_total     INTEGER NOT NULL DEFAULT 0,
    updated_at_ms   INTEGER NOT NULL,
    PRIMARY KEY (partition_key, budget_id, execution_id, dimensions_key)
);

CREATE INDEX ff_budget_usage_by_exec_release_idx
    ON ff_budget_usage_by_exec (partition_key, budget_id, execution_id);

INSERT INTO ff_migration_annotation (version, name, applied_at_ms, backward_compatible)
VALUES (20, '0020_budget_usage_by_exec', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 1)
ON CONFLICT (version) DO NOTHING;
