-- Closes the waitpoints of several executions for a statement that resumes them together. It is planned at each call, for the
-- partitions that it is asked for; the statement itself, which inserts alone, once per connection.
CREATE OR REPLACE FUNCTION ff_close_waitpoints(partitions smallint[], executions uuid[]) RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = 'force_custom_plan'
AS $$
DECLARE
    closed bigint;
BEGIN
    DELETE FROM ff_waitpoint_pending AS waitpoint
     USING unnest(partitions, executions) AS asked (partition_key, execution_id)
     WHERE waitpoint.partition_key = asked.partition_key
       AND waitpoint.partition_key = ANY (partitions)
       AND waitpoint.execution_id = asked.execution_id;
    GET DIAGNOSTICS closed = ROW_COUNT;
    RETURN closed;
END
$$;

-- See 1045_function_paths.
DO $$
DECLARE
    home regnamespace := (SELECT relnamespace FROM pg_class WHERE oid = 'ff_exec_core'::regclass)::regnamespace;
BEGIN
    EXECUTE format('ALTER FUNCTION ff_close_waitpoints(smallint[], uuid[]) SET search_path = pg_catalog, %s, pg_temp', home);
END
$$;
