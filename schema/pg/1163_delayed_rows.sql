-- Whoever promotes what is due waits for no row: neither for the execution nor for its row in the queue, which the trigger
-- deletes as soon as the execution is eligible.
CREATE OR REPLACE FUNCTION ff_take_delayed(partition smallint, execution uuid, now_ms bigint)
RETURNS boolean
LANGUAGE plpgsql
SET plan_cache_mode = 'force_custom_plan'
AS $$
DECLARE
    fits boolean;
    is_queued boolean;
BEGIN
    SELECT core.lifecycle_phase IN ('submitted', 'runnable')
           AND core.eligibility_state = 'not_eligible_until_time'
           AND coalesce(core.deadline_at_ms <= now_ms, false)
      INTO fits
      FROM ff_exec_core AS core
     WHERE core.partition_key = partition
       AND core.execution_id = execution
       FOR UPDATE SKIP LOCKED;
    IF fits IS NULL AND EXISTS (SELECT 1
                                  FROM ff_exec_core AS core
                                 WHERE core.partition_key = partition
                                   AND core.execution_id = execution)
    THEN
        RETURN NULL;
    END IF;
    SELECT true
      INTO is_queued
      FROM ff_delayed AS queued
     WHERE queued.partition_key = partition
       AND queued.execution_id = execution
       FOR UPDATE SKIP LOCKED;
    IF is_queued IS NULL OR fits THEN
        RETURN is_queued;
    END IF;
    DELETE FROM ff_delayed
     WHERE partition_key = partition AND execution_id = execution;
    INSERT INTO ff_delayed (partition_key, execution_id, lane_id, due_at_ms)
    SELECT core.partition_key, core.execution_id, core.lane_id, core.deadline_at_ms
      FROM ff_exec_core AS core
     WHERE core.partition_key = partition
       AND core.execution_id = execution
       AND core.lifecycle_phase IN ('submitted', 'runnable')
       AND core.eligibility_state = 'not_eligible_until_time'
       AND core.deadline_at_ms IS NOT NULL
        ON CONFLICT (partition_key, execution_id) DO NOTHING;
    RETURN NULL;
END
$$;

-- New functions have no search_path, and replacing one forgets it: see 1045_function_paths.
DO $$
DECLARE
    home regnamespace := (SELECT relnamespace FROM pg_class WHERE oid = 'ff_exec_core'::regclass)::regnamespace;
BEGIN
    EXECUTE format('ALTER FUNCTION ff_take_delayed(smallint, uuid, bigint) SET search_path = pg_catalog, %s, pg_temp', home);
END
$$;
