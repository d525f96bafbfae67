-- What is granted to a worker that has not claimed it yet, and until when by its
-- own document. A document that names no time counts as expired; whether a grant
-- is live, ff_claim_grant decides. Triggers on ff_exec_core keep the table, as they
-- keep ff_claimable, because looking in ff_exec_core would mean asking every child.

CREATE TABLE IF NOT EXISTS ff_granted (
    partition_key  smallint NOT NULL,
    execution_id   uuid     NOT NULL,
    expires_at_ms  bigint   NOT NULL,
    PRIMARY KEY (partition_key, execution_id)
);

CREATE INDEX IF NOT EXISTS ff_granted_expiry_idx
    ON ff_granted (expires_at_ms);

ALTER TABLE ff_granted SET (
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = false
);

CREATE OR REPLACE FUNCTION ff_granted_until(raw_fields jsonb) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN raw_fields #>> '{claim_grant,expires_at_ms}' ~ '^[0-9]{1,18}$'
                THEN (raw_fields #>> '{claim_grant,expires_at_ms}')::bigint
                ELSE 0
           END
$$;

CREATE OR REPLACE FUNCTION ff_track_granted() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'DELETE'
       AND NEW.lifecycle_phase IN ('submitted', 'runnable')
       AND NEW.eligibility_state = 'pending_claim'
    THEN
        INSERT INTO ff_granted AS g (partition_key, execution_id, expires_at_ms)
        VALUES (NEW.partition_key, NEW.execution_id, ff_granted_until(NEW.raw_fields))
        ON CONFLICT (partition_key, execution_id) DO UPDATE
        SET expires_at_ms = excluded.expires_at_ms;
    ELSE
        DELETE FROM ff_granted
        WHERE partition_key = OLD.partition_key AND execution_id = OLD.execution_id;
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER ff_exec_core_granted_insert_trg
    AFTER INSERT ON ff_exec_core
    FOR EACH ROW
    WHEN (NEW.lifecycle_phase IN ('submitted', 'runnable')
          AND NEW.eligibility_state = 'pending_claim')
    EXECUTE FUNCTION ff_track_granted();

CREATE OR REPLACE TRIGGER ff_exec_core_granted_update_trg
    AFTER UPDATE ON ff_exec_core
    FOR EACH ROW
    WHEN (OLD.eligibility_state = 'pending_claim' OR NEW.eligibility_state = 'pending_claim')
    EXECUTE FUNCTION ff_track_granted();

CREATE OR REPLACE TRIGGER ff_exec_core_granted_delete_trg
    AFTER DELETE ON ff_exec_core
    FOR EACH ROW
    WHEN (OLD.eligibility_state = 'pending_claim')
    EXECUTE FUNCTION ff_track_granted();

-- Rows from before the triggers. Creating a trigger has locked ff_exec_core
-- against writes until this transaction ends, so none is missed.

INSERT INTO ff_granted (partition_key, execution_id, expires_at_ms)
SELECT partition_key, execution_id, ff_granted_until(raw_fields)
FROM ff_exec_core
WHERE lifecycle_phase IN ('submitted', 'runnable')
  AND eligibility_state = 'pending_claim'
ON CONFLICT (partition_key, execution_id) DO NOTHING;
