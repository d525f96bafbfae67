-- What each statement pays for the work queues. The server reads the conditions of
-- all triggers of a row's table anew for every statement, so they only ask whether
-- the row waits or waited, and the functions ask the rest. Inside the functions, a
-- plan for any values is as good as one for these, because the queues have no
-- partitions.

CREATE OR REPLACE FUNCTION ff_track_claimable() RETURNS trigger
LANGUAGE plpgsql
SET plan_cache_mode = 'force_generic_plan'
AS $$
BEGIN
    IF TG_OP <> 'DELETE'
       AND NEW.lifecycle_phase IN ('submitted', 'runnable')
       AND NEW.eligibility_state = 'eligible_now'
       AND NEW.ownership_state = 'unowned'
    THEN
        IF TG_OP = 'UPDATE'
           AND OLD.lifecycle_phase IN ('submitted', 'runnable')
           AND OLD.eligibility_state = 'eligible_now'
           AND OLD.ownership_state = 'unowned'
           AND OLD.lane_id = NEW.lane_id
           AND OLD.priority = NEW.priority
           AND OLD.created_at_ms = NEW.created_at_ms
           AND OLD.attempt_index = NEW.attempt_index
           AND OLD.required_capabilities = NEW.required_capabilities
        THEN
            RETURN NULL;
        END IF;
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
    ELSIF TG_OP = 'DELETE'
          OR (OLD.lifecycle_phase IN ('submitted', 'runnable')
              AND OLD.eligibility_state = 'eligible_now'
              AND OLD.ownership_state = 'unowned')
    THEN
        DELETE FROM ff_claimable
        WHERE partition_key = OLD.partition_key AND execution_id = OLD.execution_id;
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION ff_track_delayed() RETURNS trigger
LANGUAGE plpgsql
SET plan_cache_mode = 'force_generic_plan'
AS $$
BEGIN
    IF TG_OP <> 'DELETE'
       AND NEW.lifecycle_phase IN ('submitted', 'runnable')
       AND NEW.eligibility_state = 'not_eligible_until_time'
       AND NEW.deadline_at_ms IS NOT NULL
    THEN
        IF TG_OP = 'UPDATE'
           AND OLD.lifecycle_phase IN ('submitted', 'runnable')
           AND OLD.eligibility_state = 'not_eligible_until_time'
           AND OLD.deadline_at_ms = NEW.deadline_at_ms
           AND OLD.lane_id = NEW.lane_id
        THEN
            RETURN NULL;
        END IF;
        INSERT INTO ff_delayed AS d (partition_key, execution_id, lane_id, due_at_ms)
        VALUES (NEW.partition_key, NEW.execution_id, NEW.lane_id, NEW.deadline_at_ms)
        ON CONFLICT (partition_key, execution_id) DO UPDATE
        SET lane_id = excluded.lane_id,
            due_at_ms = excluded.due_at_ms;
    ELSIF TG_OP = 'DELETE'
          OR (OLD.lifecycle_phase IN ('submitted', 'runnable')
              AND OLD.eligibility_state = 'not_eligible_until_time'
              AND OLD.deadline_at_ms IS NOT NULL)
    THEN
        DELETE FROM ff_delayed
        WHERE partition_key = OLD.partition_key AND execution_id = OLD.execution_id;
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER ff_exec_core_claimable_update_trg
    AFTER UPDATE ON ff_exec_core
    FOR EACH ROW
    WHEN (OLD.eligibility_state = 'eligible_now' OR NEW.eligibility_state = 'eligible_now')
    EXECUTE FUNCTION ff_track_claimable();

CREATE OR REPLACE TRIGGER ff_exec_core_delayed_update_trg
    AFTER UPDATE ON ff_exec_core
    FOR EACH ROW
    WHEN (OLD.eligibility_state = 'not_eligible_until_time'
          OR NEW.eligibility_state = 'not_eligible_until_time')
    EXECUTE FUNCTION ff_track_delayed();
