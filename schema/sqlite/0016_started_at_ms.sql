-- The time of the first claim moves into a column of its own. Older rows take it
-- from their first attempt that was started.

ALTER TABLE ff_exec_core ADD COLUMN started_at_ms INTEGER;

UPDATE ff_exec_core
SET started_at_ms = (
    SELECT a.started_at_ms
    FROM ff_attempt AS a
    WHERE a.partition_key = ff_exec_core.partition_key
      AND a.execution_id = ff_exec_core.execution_id
      AND a.started_at_ms IS NOT NULL
    ORDER BY a.attempt_index
    LIMIT 1
)
WHERE started_at_ms IS NULL;

INSERT INTO ff_migration_annotation (version, name, applied_at_ms, backward_compatible)
VALUES (16, '0016_started_at_ms', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 1)
ON CONFLICT (version) DO NOTHING;
