-- Where what a worker may claim begins.
--
-- A claim reads a lane's queue in its order. What other workers took meanwhile stays in the index as long as an open
-- transaction could see it, and what needs capabilities that the worker lacks stays for good; each claim would read past
-- all of it. A mark says for a lane and a set of capabilities that nothing before its place may be claimed but what
-- entered the queue since, which another index lists; one that was never moved is not believed. Whoever sets `made_at_ms`
-- moves it.
--
-- A row enters the queue with the number of its transaction. A mark's number is the oldest transaction that was under
-- way when the queue was looked at, or the oldest row that was still there before the place: whatever was committed later
-- has that number or a higher one. Numbers belong to a server that runs, so a mark counts only for the start of the
-- server that it was made under: a copy of the database begins without any.

ALTER TABLE ff_claimable ADD COLUMN IF NOT EXISTS entered bigint NOT NULL DEFAULT 0;
ALTER TABLE ff_claimable ALTER COLUMN entered SET DEFAULT CAST(CAST(pg_current_xact_id() AS text) AS bigint);

CREATE INDEX IF NOT EXISTS ff_claimable_entered_idx ON ff_claimable (lane_id, entered);

CREATE TABLE IF NOT EXISTS ff_claim_mark (
    mark_key           text        COLLATE "C" PRIMARY KEY,
    lane_id            text        COLLATE "C" NOT NULL,
    capabilities       jsonb       NOT NULL
        CONSTRAINT ff_claim_mark_capabilities_is_a_list CHECK (jsonb_typeof(capabilities) = 'array'),
    made_at_ms         bigint      NOT NULL,
    priority           integer     NOT NULL DEFAULT 2147483647,
    created_at_ms      bigint      NOT NULL DEFAULT -9000000000000000000,
    execution_id       uuid,
    entered            bigint      NOT NULL DEFAULT 0,
    server_started_at  timestamptz NOT NULL DEFAULT '-infinity'
);

-- As before, and a row that changes enters again.
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

-- Whether a mark is believed: it was made under this start of the server, and not too much entered the lane since, which
-- has to be read whole.
CREATE OR REPLACE FUNCTION ff_is_believed(mark ff_claim_mark) RETURNS boolean
LANGUAGE plpgsql STABLE
SET plan_cache_mode = 'force_generic_plan'
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
SET jit = off
AS $$
BEGIN
    RETURN mark.server_started_at = pg_postmaster_start_time()
           AND NOT EXISTS (SELECT 1
                             FROM ff_claimable AS queued
                            WHERE queued.lane_id = mark.lane_id
                              AND queued.entered >= mark.entered
                            ORDER BY queued.entered
                           OFFSET 1000
                            LIMIT 1);
END
$$;

-- Takes the first executions that wait for whoever asks with the lane and the capabilities of a mark, as many as are
-- wanted: what entered the queue before the place of the mark since that was made, the rest of the place's priority, and
-- the lower priorities, each read as far as it takes. Where the mark is not believed, the lane is read from its beginning.
--
-- A mark holds for every later look, so it does not matter that the queue is looked at after it. The plans are kept: the
-- queue has no partitions, and to plan its three parts would take longer than to read them. What the planner knows of the
-- queue is no guide either: where it takes it for short, it would read and sort a whole lane for one execution. Sorting is
-- therefore the last thing that it may think of, and each part asks for the order of the index that it is to be read by.
-- A plan that sorts all the same counts as so expensive that a server would compile it at each call.
CREATE OR REPLACE FUNCTION ff_take_from_lane(key text, wanted bigint)
RETURNS TABLE (partition_key smallint, execution_id uuid, attempt_index integer, place bigint)
LANGUAGE plpgsql
ROWS 1
SET plan_cache_mode = 'force_generic_plan'
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
SET jit = off
AS $$
DECLARE
    mark ff_claim_mark;
    lane text;
    able text[];
BEGIN
    SELECT made.* INTO mark FROM ff_claim_mark AS made WHERE made.mark_key = key;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    lane := mark.lane_id;
    able := ARRAY(SELECT jsonb_array_elements_text(mark.capabilities));
    IF NOT ff_is_believed(mark) THEN
        RETURN QUERY
        SELECT ready.partition_key, ready.execution_id, ready.attempt_index, ready.place
          FROM (SELECT queued.partition_key, queued.execution_id, queued.attempt_index,
                       row_number() OVER (ORDER BY queued.priority DESC, queued.created_at_ms, queued.execution_id)
                           AS place
                  FROM ff_claimable AS queued
                 WHERE queued.lane_id = lane
                   AND queued.required_capabilities <@ able
                 ORDER BY queued.priority DESC, queued.created_at_ms, queued.execution_id
                OFFSET 0) AS ready
         WHERE ff_take_claimable(ready.partition_key, ready.execution_id, ready.attempt_index, ready.place, lane, able)
               IS NOT NULL
         LIMIT wanted;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT ready.partition_key, ready.execution_id, ready.attempt_index, ready.place
      FROM (SELECT listed.partition_key, listed.execution_id, listed.attempt_index, row_number() OVER () AS place
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
                            OFFSET 0) AS below) AS listed
            OFFSET 0) AS ready
     WHERE ff_take_claimable(ready.partition_key, ready.execution_id, ready.attempt_index, ready.place, lane, able)
           IS NOT NULL
     LIMIT wanted;
END
$$;

-- The execution that is claimed next by whoever asks with the lane and the capabilities of a mark. Reading it takes it.
CREATE OR REPLACE VIEW ff_claim_next AS
SELECT mark.mark_key, mark.lane_id, CAST(taken.partition_key AS smallint) AS partition_key,
       CAST(taken.execution_id AS uuid) AS execution_id, CAST(taken.attempt_index AS integer) AS attempt_index
  FROM ff_claim_mark AS mark
 CROSS JOIN LATERAL ff_take_from_lane(mark.mark_key, 1) AS taken;

-- Moves a mark. The oldest number that is under way is asked for before the queue is looked at, so what a look does not
-- see has that number or a higher one.
CREATE OR REPLACE FUNCTION ff_place_claim_mark() RETURNS trigger
LANGUAGE plpgsql
SET plan_cache_mode = 'force_generic_plan'
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
SET jit = off
AS $$
DECLARE
    able text[] := ARRAY(SELECT jsonb_array_elements_text(OLD.capabilities));
    early bigint;
    place record;
BEGIN
    NEW.entered := CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint);
    NEW.server_started_at := pg_postmaster_start_time();
    IF NOT ff_is_believed(OLD) THEN
        OLD.priority := 2147483647;
        OLD.created_at_ms := -9000000000000000000;
        OLD.execution_id := NULL;
    ELSE
        SELECT min(queued.entered) INTO early
          FROM ff_claimable AS queued
         WHERE queued.lane_id = OLD.lane_id
           AND queued.required_capabilities <@ able
           AND queued.entered >= OLD.entered
           AND (queued.priority > OLD.priority
                OR (queued.priority = OLD.priority
                    AND (queued.created_at_ms, queued.execution_id) < (OLD.created_at_ms, OLD.execution_id)));
        NEW.entered := LEAST(NEW.entered, early);
    END IF;
    SELECT queued.priority, queued.created_at_ms, queued.execution_id INTO place
      FROM ff_claimable AS queued
     WHERE queued.lane_id = OLD.lane_id
       AND queued.required_capabilities <@ able
       AND queued.priority = OLD.priority
       AND (queued.created_at_ms, queued.execution_id) >= (OLD.created_at_ms, OLD.execution_id)
     ORDER BY queued.created_at_ms, queued.execution_id
     LIMIT 1;
    IF NOT FOUND THEN
        SELECT queued.priority, queued.created_at_ms, queued.execution_id INTO place
          FROM ff_claimable AS queued
         WHERE queued.lane_id = OLD.lane_id
           AND queued.required_capabilities <@ able
           AND queued.priority < OLD.priority
         ORDER BY queued.priority DESC, queued.created_at_ms, queued.execution_id
         LIMIT 1;
    END IF;
    NEW.priority := COALESCE(place.priority, -2147483648);
    NEW.created_at_ms := COALESCE(place.created_at_ms, 9000000000000000000);
    NEW.execution_id := place.execution_id;
    RETURN NEW;
END
$$;

DROP TRIGGER IF EXISTS ff_claim_mark_place_trg ON ff_claim_mark;

CREATE TRIGGER ff_claim_mark_place_trg
BEFORE UPDATE OF made_at_ms ON ff_claim_mark
FOR EACH ROW EXECUTE FUNCTION ff_place_claim_mark();

-- Replacing a function forgets its search_path, and new ones have none: see 1045_function_paths. What is asked for each
-- candidate reads one partition, and is planned for that one wherever it is asked from.
DO $$
DECLARE
    home regnamespace := (SELECT relnamespace FROM pg_class WHERE oid = 'ff_exec_core'::regclass)::regnamespace;
    made text;
BEGIN
    FOREACH made IN ARRAY ARRAY['ff_track_claimable()', 'ff_is_believed(ff_claim_mark)', 'ff_take_from_lane(text, bigint)',
                              'ff_place_claim_mark()']
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, %s, pg_temp', made, home);
    END LOOP;
    EXECUTE 'ALTER FUNCTION ff_take_claimable(smallint, uuid, integer, bigint, text, text[]) '
            'SET plan_cache_mode = force_custom_plan';
END
$$;
