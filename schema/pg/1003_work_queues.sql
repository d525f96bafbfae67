-- What a claim may take, over all partitions, in the order in which it is taken.
-- Looking for it in ff_exec_core would mean asking every child. Triggers on
-- ff_exec_core keep the table, whoever writes there; nothing else inserts,
-- updates or deletes its rows.

CREATE TABLE IF NOT EXISTS ff_claimable (
    partition_key          smallint NOT NULL,
    execution_id           uuid     NOT NULL,
    lane_id                text     COLLATE "C" NOT NULL,
    priority               integer  NOT NULL,
    created_at_ms          bigint   NOT NULL,
    attempt_index          integer  NOT NULL,
    required_capabilities  text[]   NOT NULL,
    PRIMARY KEY (partition_key, execution_id)
);

CREATE INDEX IF NOT EXISTS ff_claimable_order_idx
    ON ff_claimable (lane_id, priority DESC, created_at_ms, execution_id);

-- What becomes claimable once its time has come; kept in the same way.

CREATE TABLE IF NOT EXISTS ff_delayed (
    partition_key  smallint NOT NULL,
    execution_id   uuid     NOT NULL,
    lane_id        text     COLLATE "C" NOT NULL,
    due_at_ms      bigint   NOT NULL,
    PRIMARY KEY (partition_key, execution_id)
);

CREATE INDEX IF NOT EXISTS ff_delayed_due_idx
    ON ff_delayed (due_at_ms);

-- Rows come and go, so the dead ones soon outnumber the rest and lie where the
-- next claim starts looking: vacuum by a fixed small number instead of a share of
-- the table, at full speed, and keep the file's size, because giving pages back
-- takes an exclusive lock.
ALTER TABLE ff_claimable SET (
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_insert_scale_factor = 0.2,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.2,
    vacuum_truncate = false
);
ALTER TABLE ff_delayed SET (
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = false
);

CREATE OR REPLACE FUNCTION ff_track_claimable() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'DELETE'
       AND NEW.lifecycle_phase IN ('submitted', 'runnable')
       AND NEW.eligibility_state = 'eligible_now'
       AND NEW.ownership_state = 'unowned'
    THEN
        INSERT INTO ff_claimable AS c
            (partition_key, execution_id, lane_id, priority, created_at_ms, attempt_index,
             required_capabilities)
        VALUES
            (NEW.partition_key, NEW.execution_id, NEW.lane_id, NEW.priority, NEW.created_at_ms,
             NEW.attempt_index, NEW.required_capabilities)
        ON CONFLICT (partition_key, execution_id) DO UPDATE
        SET lane_id = excluded.lane_id,
            priority = excluded.priority,
            created_at_ms = excluded.created_at_ms,
            attempt_index = excluded.attempt_index,
            required_capabilities = excluded.required_capabilities;
    ELSE
        DELETE FROM ff_claimable
        WHERE partition_key = OLD.partition_key AND execution_id = OLD.execution_id;
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION ff_track_delayed() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'DELETE'
       AND NEW.lifecycle_phase IN ('submitted', 'runnable')
       AND NEW.eligibility_state = 'not_eligible_until_time'
       AND NEW.deadline_at_ms IS NOT NULL
    THEN
        INSERT INTO ff_delayed AS d (partition_key, execution_id, lane_id, due_at_ms)
        VALUES (NEW.partition_key, NEW.execution_id, NEW.lane_id, NEW.deadline_at_ms)
        ON CONFLICT (partition_key, execution_id) DO UPDATE
        SET lane_id = excluded.lane_id,
            due_at_ms = excluded.due_at_ms;
    ELSE
        DELETE FROM ff_delayed
        WHERE partition_key = OLD.partition_key AND execution_id = OLD.execution_id;
    END IF;
    RETURN NULL;
END
$$;

-- The conditions stand in the triggers as well, so that the writes which change
-- nothing here (most of them) call no function at all.

CREATE OR REPLACE TRIGGER ff_exec_core_claimable_insert_trg
    AFTER INSERT ON ff_exec_core
    FOR EACH ROW
    WHEN (NEW.lifecycle_phase IN ('submitted', 'runnable')
          AND NEW.eligibility_state = 'eligible_now'
          AND NEW.ownership_state = 'unowned')
    EXECUTE FUNCTION ff_track_claimable();

CREATE OR REPLACE TRIGGER ff_exec_core_claimable_update_trg
    AFTER UPDATE ON ff_exec_core
    FOR EACH ROW
    WHEN (CASE WHEN OLD.lifecycle_phase IN ('submitted', 'runnable')
                    AND OLD.eligibility_state = 'eligible_now'
                    AND OLD.ownership_state = 'unowned'
               THEN NEW.lifecycle_phase NOT IN ('submitted', 'runnable')
                    OR NEW.eligibility_state <> 'eligible_now'
                    OR NEW.ownership_state <> 'unowned'
                    OR NEW.lane_id <> OLD.lane_id
                    OR NEW.priority <> OLD.priority
                    OR NEW.created_at_ms <> OLD.created_at_ms
                    OR NEW.attempt_index <> OLD.attempt_index
                    OR NEW.required_capabilities <> OLD.required_capabilities
               ELSE NEW.lifecycle_phase IN ('submitted', 'runnable')
                    AND NEW.eligibility_state = 'eligible_now'
                    AND NEW.ownership_state = 'unowned'
          END)
    EXECUTE FUNCTION ff_track_claimable();

CREATE OR REPLACE TRIGGER ff_exec_core_claimable_delete_trg
    AFTER DELETE ON ff_exec_core
    FOR EACH ROW
    WHEN (OLD.lifecycle_phase IN ('submitted', 'runnable')
          AND OLD.eligibility_state = 'eligible_now'
          AND OLD.ownership_state = 'unowned')
    EXECUTE FUNCTION ff_track_claimable();

CREATE OR REPLACE TRIGGER ff_exec_core_delayed_insert_trg
    AFTER INSERT ON ff_exec_core
    FOR EACH ROW
    WHEN (NEW.lifecycle_phase IN ('submitted', 'runnable')
          AND NEW.eligibility_state = 'not_eligible_until_time'
          AND NEW.deadline_at_ms IS NOT NULL)
    EXECUTE FUNCTION ff_track_delayed();

CREATE OR REPLACE TRIGGER ff_exec_core_delayed_update_trg
    AFTER UPDATE ON ff_exec_core
    FOR EACH ROW
    WHEN (CASE WHEN OLD.lifecycle_phase IN ('submitted', 'runnable')
                    AND OLD.eligibility_state = 'not_eligible_until_time'
                    AND OLD.deadline_at_ms IS NOT NULL
               THEN NEW.lifecycle_phase NOT IN ('submitted', 'runnable')
                    OR NEW.eligibility_state <> 'not_eligible_until_time'
                    OR NEW.deadline_at_ms IS DISTINCT FROM OLD.deadline_at_ms
                    OR NEW.lane_id <> OLD.lane_id
               ELSE NEW.lifecycle_phase IN ('submitted', 'runnable')
                    AND NEW.eligibility_state = 'not_eligible_until_time'
                    AND NEW.deadline_at_ms IS NOT NULL
          END)
    EXECUTE FUNCTION ff_track_delayed();

CREATE OR REPLACE TRIGGER ff_exec_core_delayed_delete_trg
    AFTER DELETE ON ff_exec_core
    FOR EACH ROW
    WHEN (OLD.lifecycle_phase IN ('submitted', 'runnable')
          AND OLD.eligibility_state = 'not_eligible_until_time'
          AND OLD.deadline_at_ms IS NOT NULL)
    EXECUTE FUNCTION ff_track_delayed();

-- Rows from before the triggers. Creating a trigger has locked ff_exec_core
-- against writes until this transaction ends, so none is missed.

-- Retries with a backoff that an older backend scheduled kept their time in
-- raw_fields only, where nothing looked for it. The update fires the trigger above.
UPDATE ff_exec_core
SET deadline_at_ms = (raw_fields ->> 'delay_until')::bigint
WHERE lifecycle_phase IN ('submitted', 'runnable')
  AND eligibility_state = 'not_eligible_until_time'
  AND deadline_at_ms IS NULL
  AND raw_fields ->> 'delay_until' ~ '^[0-9]{1,18}$';

INSERT INTO ff_claimable
    (partition_key, execution_id, lane_id, priority, created_at_ms, attempt_index,
     required_capabilities)
SELECT partition_key, execution_id, lane_id, priority, created_at_ms, attempt_index,
       required_capabilities
FROM ff_exec_core
WHERE lifecycle_phase IN ('submitted', 'runnable')
  AND eligibility_state = 'eligible_now'
  AND ownership_state = 'unowned'
ON CONFLICT (partition_key, execution_id) DO NOTHING;

INSERT INTO ff_delayed (partition_key, execution_id, lane_id, due_at_ms)
SELECT partition_key, execution_id, lane_id, deadline_at_ms
FROM ff_exec_core
WHERE lifecycle_phase IN ('submitted', 'runnable')
  AND eligibility_state = 'not_eligible_until_time'
  AND deadline_at_ms IS NOT NULL
ON CONFLICT (partition_key, execution_id) DO NOTHING;
