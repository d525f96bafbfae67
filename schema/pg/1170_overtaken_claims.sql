-- A claim that is overtaken looks again.
--
-- A claim reads the queue as it is when it begins to look. What waits there may be taken by others who began later, while
-- what these brought entered after the look: nothing was left of what the claim saw, and it answered that there was nothing,
-- though work was waiting. So whoever wants more than a look gave, and passed over something in it that others had or had
-- taken, looks again, until a look shows nothing that no look had shown before. Where the queue is empty one look is enough.
--
-- Without a mark nothing is looked at, as before. Claims that go alone look as those that go together do.
CREATE OR REPLACE FUNCTION ff_take_for_each(keys text[])
RETURNS TABLE (ordinality bigint, partition_key smallint, execution_id uuid, attempt_index integer)
LANGUAGE plpgsql
ROWS 1
SET plan_cache_mode = 'force_generic_plan'
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
SET jit = off
AS $$
DECLARE
    key text;
    asked bigint[];
    answered integer;
    mark ff_claim_mark;
    lane text;
    able text[];
    queue refcursor;
    ready record;
    passed uuid[] := '{}';
    shown uuid[];
    shows_more boolean;
    partitions smallint[];
    executions uuid[];
    attempts integer[];
    locked bigint[];
    is_shared boolean;
BEGIN
    FOREACH key IN ARRAY ARRAY(SELECT DISTINCT named.one FROM unnest(keys) AS named (one)) LOOP
        asked := array_positions(keys, key);
        answered := 0;
        shown := '{}';
        shows_more := true;
        WHILE shows_more AND answered < cardinality(asked) LOOP
            SELECT made.* INTO mark FROM ff_claim_mark AS made WHERE made.mark_key = key;
            EXIT WHEN NOT FOUND;
            lane := mark.lane_id;
            able := ARRAY(SELECT jsonb_array_elements_text(mark.capabilities));
            shows_more := false;
            IF ff_is_believed(mark) THEN
                OPEN queue NO SCROLL FOR
                SELECT listed.partition_key, listed.execution_id, listed.attempt_index, row_number() OVER () AS place
                  FROM (SELECT late.partition_key, late.execution_id, late.attempt_index
                          FROM (SELECT entered.partition_key, entered.execution_id, entered.attempt_index
                                  FROM (SELECT queued.*
                                          FROM ff_claimable AS queued
                                         WHERE queued.lane_id = lane
                                           AND queued.entered >= mark.entered
                                           AND queued.required_capabilities <@ able
                                           AND (queued.priority > mark.priority
                                                OR (queued.priority = mark.priority
                                                    AND (queued.created_at_ms, queued.execution_id)
                                                        < (mark.created_at_ms, mark.execution_id)))
                                         ORDER BY queued.entered
                                        OFFSET 0) AS entered
                                 ORDER BY entered.priority DESC, entered.created_at_ms, entered.execution_id
                                OFFSET 0) AS late
                        UNION ALL
                        SELECT near.partition_key, near.execution_id, near.attempt_index
                          FROM (SELECT queued.partition_key, queued.execution_id, queued.attempt_index
                                  FROM ff_claimable AS queued
                                 WHERE queued.lane_id = lane
                                   AND queued.priority = mark.priority
                                   AND (queued.created_at_ms, queued.execution_id)
                                       >= (mark.created_at_ms, mark.execution_id)
                                   AND queued.required_capabilities <@ able
                                 ORDER BY queued.created_at_ms, queued.execution_id
                                OFFSET 0) AS near
                        UNION ALL
                        SELECT below.partition_key, below.execution_id, below.attempt_index
                          FROM (SELECT queued.partition_key, queued.execution_id, queued.attempt_index
                                  FROM ff_claimable AS queued
                                 WHERE queued.lane_id = lane
                                   AND queued.priority < mark.priority
                                   AND queued.required_capabilities <@ able
                                 ORDER BY queued.priority DESC, queued.created_at_ms, queued.execution_id
                                OFFSET 0) AS below) AS listed;
            ELSE
                OPEN queue NO SCROLL FOR
                SELECT queued.partition_key, queued.execution_id, queued.attempt_index,
                       row_number() OVER (ORDER BY queued.priority DESC, queued.created_at_ms, queued.execution_id) AS place
                  FROM ff_claimable AS queued
                 WHERE queued.lane_id = lane
                   AND queued.required_capabilities <@ able
                 ORDER BY queued.priority DESC, queued.created_at_ms, queued.execution_id;
            END IF;
            WHILE answered < cardinality(asked) LOOP
                partitions := '{}';
                executions := '{}';
                attempts := '{}';
                locked := '{}';
                is_shared := false;
                WHILE cardinality(executions) < cardinality(asked) - answered LOOP
                    FETCH queue INTO ready;
                    EXIT WHEN NOT FOUND;
                    CONTINUE WHEN ready.execution_id = ANY (passed);
                    IF ready.execution_id <> ALL (shown) THEN
                        shown := shown || ready.execution_id;
                        shows_more := true;
                    END IF;
                    CONTINUE WHEN ready.place <= 32
                                  AND NOT pg_try_advisory_xact_lock(uuid_hash_extended(ready.execution_id, 0));
                    is_shared := is_shared OR ready.partition_key = ANY (partitions);
                    partitions := partitions || ready.partition_key;
                    executions := executions || ready.execution_id;
                    attempts := attempts || ready.attempt_index;
                END LOOP;
                EXIT WHEN cardinality(executions) = 0;
                IF is_shared THEN
                    locked := ARRAY(SELECT listed.turn
                                      FROM (SELECT candidate.partition_key, array_agg(candidate.execution_id) AS members
                                              FROM unnest(partitions, executions)
                                                   AS candidate (partition_key, execution_id)
                                             GROUP BY candidate.partition_key
                                            HAVING count(*) > 1) AS shared
                                     CROSS JOIN LATERAL
                                           ff_lock_claimable(shared.partition_key, shared.members, lane, able) AS held
                                      JOIN unnest(partitions, executions, attempts) WITH ORDINALITY
                                           AS listed (partition_key, execution_id, attempt_index, turn)
                                        ON listed.partition_key = shared.partition_key
                                       AND listed.execution_id = held.execution_id
                                       AND listed.attempt_index = held.attempt_index);
                END IF;
                FOR turn IN 1 .. cardinality(executions) LOOP
                    IF turn = ANY (locked)
                       OR ff_take_claimable(partitions[turn], executions[turn], attempts[turn], 33, lane, able) IS NOT NULL
                    THEN
                        answered := answered + 1;
                        ordinality := asked[answered];
                        partition_key := partitions[turn];
                        execution_id := executions[turn];
                        attempt_index := attempts[turn];
                        passed := passed || execution_id;
                        RETURN NEXT;
                    END IF;
                END LOOP;
            END LOOP;
            CLOSE queue;
        END LOOP;
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION ff_take_from_lane(key text, wanted bigint)
RETURNS TABLE (partition_key smallint, execution_id uuid, attempt_index integer, place bigint)
LANGUAGE sql
ROWS 1
AS $$
SELECT taken.partition_key, taken.execution_id, taken.attempt_index, taken.ordinality
  FROM ff_take_for_each(array_fill(key, ARRAY[CAST(wanted AS integer)])) AS taken
$$;

-- Replacing a function forgets its search_path: see 1045_function_paths.
DO $$
DECLARE
    home regnamespace := (SELECT relnamespace FROM pg_class WHERE oid = 'ff_exec_core'::regclass)::regnamespace;
    made text;
BEGIN
    FOREACH made IN ARRAY ARRAY['ff_take_for_each(text[])', 'ff_take_from_lane(text, bigint)'] LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, %s, pg_temp', made, home);
    END LOOP;
END
$$;
