-- A mark that many have entered behind is moved to the first of them.
--
-- Where a lane had run empty, all that arrives counts as entered since, until the mark is moved up. With more than a
-- thousand such rows a mark is not believed, and whoever claims by it reads the lane from its beginning. So did whoever moved
-- it: past all that was claimed, as long as a transaction is open that could still see it, and meanwhile the next thousand
-- arrived. Such a mark moves up to the first of the rows that entered, which an index of their own lists.
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
    crowd bigint;
    place record;
BEGIN
    NEW.entered := CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint);
    NEW.server_started_at := pg_postmaster_start_time();
    crowd := (SELECT count(*)
                FROM (SELECT 1
                        FROM ff_claimable AS queued
                       WHERE queued.lane_id = OLD.lane_id
                         AND queued.entered >= OLD.entered
                       ORDER BY queued.entered
                       LIMIT 20001) AS since);
    IF OLD.server_started_at <> NEW.server_started_at OR crowd > 20000 THEN
        OLD.priority := 2147483647;
        OLD.created_at_ms := -9000000000000000000;
        OLD.execution_id := NULL;
    ELSIF crowd > 1000 THEN
        SELECT late.priority, late.created_at_ms, late.execution_id INTO place
          FROM (SELECT queued.priority, queued.created_at_ms, queued.execution_id
                  FROM ff_claimable AS queued
                 WHERE queued.lane_id = OLD.lane_id
                   AND queued.entered >= OLD.entered
                   AND queued.required_capabilities <@ able
                   AND (queued.priority > OLD.priority
                        OR (queued.priority = OLD.priority
                            AND (queued.created_at_ms, queued.execution_id) < (OLD.created_at_ms, OLD.execution_id)))
                 ORDER BY queued.entered
                OFFSET 0) AS late
         ORDER BY late.priority DESC, late.created_at_ms, late.execution_id
         LIMIT 1;
        IF FOUND THEN
            NEW.priority := place.priority;
            NEW.created_at_ms := place.created_at_ms;
            NEW.execution_id := place.execution_id;
            RETURN NEW;
        END IF;
    ELSE
        SELECT queued.entered INTO early
          FROM ff_claimable AS queued
         WHERE queued.lane_id = OLD.lane_id
           AND queued.entered >= OLD.entered
           AND queued.required_capabilities <@ able
           AND (queued.priority > OLD.priority
                OR (queued.priority = OLD.priority
                    AND (queued.created_at_ms, queued.execution_id) < (OLD.created_at_ms, OLD.execution_id)))
         ORDER BY queued.entered
         LIMIT 1;
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

-- Replacing a function forgets its search_path: see 1045_function_paths.
DO $$
DECLARE
    home regnamespace := (SELECT relnamespace FROM pg_class WHERE oid = 'ff_exec_core'::regclass)::regnamespace;
BEGIN
    EXECUTE format('ALTER FUNCTION ff_place_claim_mark() SET search_path = pg_catalog, %s, pg_temp', home);
END
$$;
