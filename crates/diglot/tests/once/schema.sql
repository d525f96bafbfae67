CREATE TABLE ff_exec_core (
    partition_key      smallint NOT NULL,
    execution_id       uuid     NOT NULL,
    lane_id            text     NOT NULL,
    lifecycle_phase    text     NOT NULL,
    ownership_state    text     NOT NULL,
    eligibility_state  text     NOT NULL,
    priority           integer  NOT NULL DEFAULT 0,
    created_at_ms      bigint   NOT NULL,
    deadline_at_ms     bigint,
    PRIMARY KEY (partition_key, execution_id)
);

CREATE TABLE ff_attempt (
    partition_key        smallint NOT NULL,
    execution_id         uuid     NOT NULL,
    attempt_index        integer  NOT NULL,
    worker_id            text,
    lease_epoch          bigint   NOT NULL DEFAULT 0,
    lease_expires_at_ms  bigint,
    outcome              text,
    PRIMARY KEY (partition_key, execution_id, attempt_index)
);

CREATE TABLE ff_claim_grant (
    partition_key  smallint NOT NULL,
    grant_id       bytea    NOT NULL,
    execution_id   uuid     NOT NULL,
    kind           text     NOT NULL,
    worker_id      text     NOT NULL,
    issued_at_ms   bigint   NOT NULL,
    expires_at_ms  bigint   NOT NULL,
    PRIMARY KEY (partition_key, grant_id)
);

CREATE TABLE ff_claimable (
    partition_key  smallint NOT NULL,
    execution_id   uuid     NOT NULL,
    lane_id        text     NOT NULL,
    priority       integer  NOT NULL,
    created_at_ms  bigint   NOT NULL,
    PRIMARY KEY (partition_key, execution_id)
);

CREATE TABLE ff_delayed (
    partition_key  smallint NOT NULL,
    execution_id   uuid     NOT NULL,
    lane_id        text     NOT NULL,
    due_at_ms      bigint   NOT NULL,
    PRIMARY KEY (partition_key, execution_id)
);

CREATE FUNCTION ff_track_claimable() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'DELETE'
       AND NEW.lifecycle_phase IN ('submitted', 'runnable')
       AND NEW.eligibility_state = 'eligible_now'
       AND NEW.ownership_state = 'unowned'
    THEN
        INSERT INTO ff_claimable AS c
            (partition_key, execution_id, lane_id, priority, created_at_ms)
        VALUES
            (NEW.partition_key, NEW.execution_id, NEW.lane_id, NEW.priority, NEW.created_at_ms)
        ON CONFLICT (partition_key, execution_id) DO UPDATE
        SET lane_id = excluded.lane_id,
            priority = excluded.priority,
            created_at_ms = excluded.created_at_ms;
    ELSE
        DELETE FROM ff_claimable
        WHERE partition_key = OLD.partition_key AND execution_id = OLD.execution_id;
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION ff_track_delayed() RETURNS trigger
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

CREATE TRIGGER ff_exec_core_claimable_update_trg
    AFTER UPDATE ON ff_exec_core
    FOR EACH ROW
    WHEN (CASE WHEN OLD.lifecycle_phase IN ('submitted', 'runnable')
                    AND OLD.eligibility_state = 'eligible_now'
                    AND OLD.ownership_state = 'unowned'
               THEN NEW.lifecycle_phase NOT IN ('submitted', 'runnable')
                    OR NEW.eligibility_state <> 'eligible_now'
                    OR NEW.ownership_state <> 'unowned'
               ELSE NEW.lifecycle_phase IN ('submitted', 'runnable')
                    AND NEW.eligibility_state = 'eligible_now'
                    AND NEW.ownership_state = 'unowned'
          END)
    EXECUTE FUNCTION ff_track_claimable();

CREATE TRIGGER ff_exec_core_delayed_update_trg
    AFTER UPDATE ON ff_exec_core
    FOR EACH ROW
    WHEN (CASE WHEN OLD.lifecycle_phase IN ('submitted', 'runnable')
                    AND OLD.eligibility_state = 'not_eligible_until_time'
                    AND OLD.deadline_at_ms IS NOT NULL
               THEN NEW.lifecycle_phase NOT IN ('submitted', 'runnable')
                    OR NEW.eligibility_state <> 'not_eligible_until_time'
                    OR NEW.deadline_at_ms IS DISTINCT FROM OLD.deadline_at_ms
               ELSE NEW.lifecycle_phase IN ('submitted', 'runnable')
                    AND NEW.eligibility_state = 'not_eligible_until_time'
                    AND NEW.deadline_at_ms IS NOT NULL
          END)
    EXECUTE FUNCTION ff_track_delayed();
