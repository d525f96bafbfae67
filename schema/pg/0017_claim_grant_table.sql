-- diglot: no-transaction
-- Grants get a table. Older databases kept at most one claim grant per execution
-- in raw_fields; those with all three of its names are carried over.

CREATE TABLE IF NOT EXISTS ff_claim_grant (
    partition_key        smallint NOT NULL,
    grant_id             bytea    NOT NULL,
    execution_id         uuid     NOT NULL,
    kind                 text     NOT NULL,
    worker_id            text     NOT NULL,
    worker_instance_id   text     NOT NULL,
    lane_id              text,
    capability_hash      text,
    worker_capabilities  jsonb    NOT NULL DEFAULT '[]',
    route_snapshot_json  text,
    admission_summary    text,
    grant_ttl_ms         bigint   NOT NULL,
    issued_at_ms         bigint   NOT NULL,
    expires_at_ms        bigint   NOT NULL,
    PRIMARY KEY (partition_key, grant_id),
    CONSTRAINT ff_claim_grant_kind_check CHECK (kind IN ('claim', 'reclaim'))
) PARTITION BY HASH (partition_key);

CREATE INDEX IF NOT EXISTS ff_claim_grant_execution_idx
    ON ff_claim_grant (partition_key, execution_id);
CREATE INDEX IF NOT EXISTS ff_claim_grant_expiry_idx
    ON ff_claim_grant (expires_at_ms);

ALTER TABLE ff_exec_core ADD COLUMN IF NOT EXISTS lease_reclaim_count integer NOT NULL DEFAULT 0;

-- Where executions can exist already, the rows below need children to go to: as many
-- as ff_exec_core has. A fresh database has none yet.
DO $$
DECLARE
    wanted integer := (SELECT count(*) FROM pg_inherits WHERE inhparent = 'ff_exec_core'::regclass);
BEGIN
    FOR i IN 0 .. wanted - 1 LOOP
        EXECUTE format(
            'CREATE TABLE IF NOT EXISTS ff_claim_grant_p%s PARTITION OF ff_claim_grant FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
            i, wanted, i);
    END LOOP;
END
$$;

INSERT INTO ff_claim_grant
    (partition_key, grant_id, execution_id, kind, worker_id, worker_instance_id,
     grant_ttl_ms, issued_at_ms, expires_at_ms)
SELECT partition_key,
       sha256(convert_to(raw_fields #>> '{claim_grant,grant_key}', 'UTF8')),
       execution_id,
       'claim',
       raw_fields #>> '{claim_grant,worker_id}',
       raw_fields #>> '{claim_grant,worker_instance_id}',
       0,
       coalesce((raw_fields #>> '{claim_grant,issued_at_ms}')::bigint, 0),
       coalesce((raw_fields #>> '{claim_grant,expires_at_ms}')::bigint, 0)
FROM ff_exec_core
WHERE raw_fields #>> '{claim_grant,grant_key}' IS NOT NULL
  AND raw_fields #>> '{claim_grant,worker_id}' IS NOT NULL
  AND raw_fields #>> '{claim_grant,worker_instance_id}' IS NOT NULL
ON CONFLICT (partition_key, grant_id) DO NOTHING;

INSERT INTO ff_migration_annotation (version, name, applied_at_ms, backward_compatible)
VALUES (17, '0017_claim_grant_table', (extract(epoch FROM clock_timestamp()) * 1000)::bigint, true)
ON CONFLICT (version) DO NOTHING;
