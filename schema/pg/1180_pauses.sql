-- What an operator holds back: a lane gives out no claim while it has a row here, and neither do the members of a flow.
--
-- The members of a paused flow are not in the queue, so that a long flow keeps no claim of the same lane waiting. Whoever
-- pauses one takes them out, and whoever lets it go on puts them back; nobody waits for that, because rows of the queue
-- that somebody holds are passed over. What comes in between, from a writer who did not see the pause yet, is judged when
-- it is claimed, and taken out then. A writer who saw the pause holds its row until its own commit, so who ends the pause
-- sees what that writer left out.

CREATE TABLE IF NOT EXISTS ff_lane_pause (
    lane_id       text   COLLATE "C" PRIMARY KEY,
    paused_at_ms  bigint NOT NULL,
    reason        text   NOT NULL
);

CREATE TABLE IF NOT EXISTS ff_flow_pause (
    partition_key  smallint NOT NULL,
    flow_id        uuid     NOT NULL,
    paused_at_ms   bigint   NOT NULL,
    reason         text     NOT NULL,
    PRIMARY KEY (partition_key, flow_id)
);

-- As before, and what a paused flow holds back stays out of the queue.
CREATE OR REPLACE FUNCTION ff_track_claimable() RETURNS trigger
LANGUAGE plpgsql
SET plan_cache_mode = 'force_generic_plan'
SET enable_seqscan = off
SET enable_bitmapscan = off
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
        IF NEW.flow_id IS NOT NULL THEN
            PERFORM 1
               FROM ff_flow_pause AS pause
              WHERE pause.partition_key = NEW.partition_key
                AND pause.flow_id = NEW.flow_id
                FOR KEY SHARE SKIP LOCKED;
            IF FOUND THEN
                DELETE FROM ff_claimable
                WHERE partition_key = NEW.partition_key AND execution_id = NEW.execution_id;
                RETURN NULL;
            END IF;
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
            required_capabilities = excluded.required_capabilities,
            entered = excluded.entered;
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

CREATE OR REPLACE FUNCTION ff_lock_claimable(partition smallint, executions uuid[], lane text, able text[])
RETURNS TABLE (execution_id uuid, attempt_index integer)
LANGUAGE plpgsql
SET plan_cache_mode = 'force_custom_plan'
AS $$
BEGIN
    RETURN QUERY
    SELECT core.execution_id, core.attempt_index
      FROM ff_exec_core AS core
     WHERE core.partition_key = partition
       AND core.execution_id = ANY (executions)
       AND CASE
             WHEN core.lifecycle_phase IN ('submitted', 'runnable')
             THEN core.eligibility_state = 'eligible_now'
                  AND core.ownership_state = 'unowned'
                  AND core.lane_id = lane
                  AND core.required_capabilities <@ able
                  AND (core.flow_id IS NULL
                       OR NOT EXISTS (SELECT 1
                                        FROM ff_flow_pause AS pause
                                       WHERE pause.partition_key = core.partition_key
                                         AND pause.flow_id = core.flow_id))
             ELSE false
           END
       FOR UPDATE OF core SKIP LOCKED;
END
$$;

CREATE OR REPLACE FUNCTION ff_take_claimable(
    partition smallint, execution uuid, attempt integer, place bigint, lane text, capabilities text[]
)
RETURNS boolean
LANGUAGE plpgsql
SET plan_cache_mode = 'force_custom_plan'
AS $$
DECLARE
    fits boolean;
BEGIN
    IF place <= 32 AND NOT pg_try_advisory_xact_lock(uuid_hash_extended(execution, 0)) THEN
        RETURN NULL;
    END IF;
    SELECT core.lifecycle_phase IN ('submitted', 'runnable')
           AND core.eligibility_state = 'eligible_now'
           AND core.ownership_state = 'unowned'
           AND core.attempt_index = attempt
           AND core.lane_id = lane
           AND core.required_capabilities <@ capabilities
           AND (core.flow_id IS NULL
                OR NOT EXISTS (SELECT 1
                                 FROM ff_flow_pause AS pause
                                WHERE pause.partition_key = core.partition_key
                                  AND pause.flow_id = core.flow_id))
      INTO fits
      FROM ff_exec_core AS core
     WHERE core.partition_key = partition
       AND core.execution_id = execution
       FOR UPDATE OF core SKIP LOCKED;
    IF fits THEN
        RETURN true;
    END IF;
    IF fits IS NULL AND EXISTS (SELECT 1
                                  FROM ff_exec_core AS core
                                 WHERE core.partition_key = partition
                                   AND core.execution_id = execution)
    THEN
        RETURN NULL;
    END IF;
    DELETE FROM ff_claimable
     WHERE (partition_key, execution_id) IN (SELECT stale.partition_key, stale.execution_id
                                               FROM ff_claimable AS stale
                                              WHERE stale.partition_key = partition
                                                AND stale.execution_id = execution
                                                FOR UPDATE SKIP LOCKED);
    IF FOUND THEN
        PERFORM 1
           FROM ff_flow_pause AS pause
          WHERE pause.partition_key = partition
            AND pause.flow_id = (SELECT core.flow_id
                                   FROM ff_exec_core AS core
                                  WHERE core.partition_key = partition
                                    AND core.execution_id = execution)
            FOR KEY SHARE SKIP LOCKED;
        IF FOUND THEN
            RETURN NULL;
        END IF;
        INSERT INTO ff_claimable
               (partition_key, execution_id, lane_id, priority, created_at_ms, attempt_index, required_capabilities)
        SELECT core.partition_key, core.execution_id, core.lane_id, core.priority, core.created_at_ms,
               core.attempt_index, core.required_capabilities
          FROM ff_exec_core AS core
         WHERE core.partition_key = partition
           AND core.execution_id = execution
           AND core.lifecycle_phase IN ('submitted', 'runnable')
           AND core.eligibility_state = 'eligible_now'
           AND core.ownership_state = 'unowned'
            ON CONFLICT (partition_key, execution_id) DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;

-- Takes what waits of a flow out of the queue when it is paused, and puts it back when it goes on.
CREATE OR REPLACE FUNCTION ff_track_flow_pause() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        DELETE FROM ff_claimable
         WHERE (partition_key, execution_id) IN (SELECT queued.partition_key, queued.execution_id
                                                   FROM ff_claimable AS queued
                                                   JOIN ff_exec_core AS core
                                                     ON core.partition_key = queued.partition_key
                                                    AND core.execution_id = queued.execution_id
                                                  WHERE queued.partition_key = NEW.partition_key
                                                    AND core.partition_key = NEW.partition_key
                                                    AND core.flow_id = NEW.flow_id
                                                    FOR UPDATE OF queued SKIP LOCKED);
        RETURN NULL;
    END IF;
    INSERT INTO ff_claimable
           (partition_key, execution_id, lane_id, priority, created_at_ms, attempt_index, required_capabilities)
    SELECT core.partition_key, core.execution_id, core.lane_id, core.priority, core.created_at_ms,
           core.attempt_index, core.required_capabilities
      FROM ff_exec_core AS core
     WHERE core.partition_key = OLD.partition_key
       AND core.flow_id = OLD.flow_id
       AND core.lifecycle_phase IN ('submitted', 'runnable')
       AND core.eligibility_state = 'eligible_now'
       AND core.ownership_state = 'unowned'
     ORDER BY core.partition_key, core.execution_id
        ON CONFLICT (partition_key, execution_id) DO NOTHING;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER ff_flow_pause_claimable_trg
    AFTER INSERT OR DELETE ON ff_flow_pause
    FOR EACH ROW EXECUTE FUNCTION ff_track_flow_pause();

-- New functions have no search_path, and replacing one forgets it: see 1045_function_paths.
DO $$
DECLARE
    home regnamespace := (SELECT relnamespace FROM pg_class WHERE oid = 'ff_exec_core'::regclass)::regnamespace;
    made text;
BEGIN
    FOREACH made IN ARRAY ARRAY['ff_track_claimable()', 'ff_lock_claimable(smallint, uuid[], text, text[])',
                              'ff_take_claimable(smallint, uuid, integer, bigint, text, text[])',
                              'ff_track_flow_pause()']
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, %s, pg_temp', made, home);
    END LOOP;
END
$$;
