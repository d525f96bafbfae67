-- The order in which rows are locked: the execution first, its row in a work queue after it. Whoever changes an
-- execution locks it, and the triggers then change the queue. What takes work from a queue reads the queue without
-- locking it and asks these functions for each candidate in turn: they lock the execution if nobody has it, judge it
-- by what it is now, and wait for nobody.
--
-- A function's statements see what was committed before they began, while the statement that calls it sees what was
-- committed before the whole of it began; so the row of a queue may be older than the execution. The answer is true or
-- NULL, and is asked for with IS NOT NULL, which the planner takes to hold for nearly every row: it then reads the queue
-- in the order of its index instead of sorting all that waits.
--
-- The advisory lock spreads those who claim from a lane at the same time: it costs a hundredth of looking at the
-- execution only to find that the last one to look has locked it. The server has room for a limited number of such locks,
-- and each is kept to the end of its transaction, so only the first places of a lane are asked for in this way.
--
-- A row of a queue that its execution contradicts was left by a writer for whom no trigger fired. It is put right, or
-- every later look would find it again; unless somebody has it locked, who then will.

CREATE OR REPLACE FUNCTION ff_take_claimable(
    partition smallint, execution uuid, attempt integer, place bigint, lane text, capabilities text[]
)
RETURNS boolean
LANGUAGE plpgsql
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
      INTO fits
      FROM ff_exec_core AS core
     WHERE core.partition_key = partition
       AND core.execution_id = execution
       FOR UPDATE SKIP LOCKED;
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

CREATE OR REPLACE FUNCTION ff_take_delayed(partition smallint, execution uuid, now_ms bigint)
RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    fits boolean;
BEGIN
    SELECT core.lifecycle_phase IN ('submitted', 'runnable')
           AND core.eligibility_state = 'not_eligible_until_time'
           AND coalesce(core.deadline_at_ms <= now_ms, false)
      INTO fits
      FROM ff_exec_core AS core
     WHERE core.partition_key = partition
       AND core.execution_id = execution
       FOR UPDATE SKIP LOCKED;
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
    DELETE FROM ff_delayed
     WHERE (partition_key, execution_id) IN (SELECT stale.partition_key, stale.execution_id
                                               FROM ff_delayed AS stale
                                              WHERE stale.partition_key = partition
                                                AND stale.execution_id = execution
                                                FOR UPDATE SKIP LOCKED);
    IF FOUND THEN
        INSERT INTO ff_delayed (partition_key, execution_id, lane_id, due_at_ms)
        SELECT core.partition_key, core.execution_id, core.lane_id, core.deadline_at_ms
          FROM ff_exec_core AS core
         WHERE core.partition_key = partition
           AND core.execution_id = execution
           AND core.lifecycle_phase IN ('submitted', 'runnable')
           AND core.eligibility_state = 'not_eligible_until_time'
           AND core.deadline_at_ms IS NOT NULL
            ON CONFLICT (partition_key, execution_id) DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
