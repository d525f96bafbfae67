-- The time of the first claim moves into a column of its own. Older rows take it
-- from their first attempt that was started.

ALTER TABLE ff_exec_core ADD COLUMN IF NOT EXISTS started_at_ms bigint;

UPDATE ff_exec_core AS e
SET started_at_ms = first.started_at_ms
FROM (
    SELECT DISTINCT ON (partition_key, execution_id) partition_key, execution_id, started_at_ms
    FROM ff_attempt
    WHERE started_at_ms IS NOT NULL
    ORDER BY partition_key, execution_id, attempt_index
) AS first
WHERE e.partition_key = first.partition_key
  AND e.execution_id = first.execution_id
  AND e.started_at_ms IS NULL;

INSERT INTO ff_migration_annotation (version, name, applied_at_ms, backward_compatible)
VALUES (16, '0016_started_at_ms', (extract(epoch FROM clock_timestamp()) * 1000)::bigint, true)
ON CONFLICT (version) DO NOTHING;
