-- What a statement that appends to several streams asks of their frames. Each function is planned at each call, for the
-- partitions that it is asked for; the statement itself, which inserts alone, once per connection.

-- The newest frame of each of several attempts. No row where an attempt has none.
CREATE OR REPLACE FUNCTION ff_newest_frames(partitions smallint[], executions uuid[], attempts integer[])
RETURNS TABLE (ordinality bigint, ts_ms bigint, seq integer)
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    RETURN QUERY
    SELECT asked.ordinality, newest.ts_ms, newest.seq
      FROM unnest(partitions, executions, attempts) WITH ORDINALITY
           AS asked (partition_key, execution_id, attempt_index, ordinality)
     CROSS JOIN LATERAL (SELECT frame.ts_ms, frame.seq
                           FROM ff_stream_frame AS frame
                          WHERE frame.partition_key = asked.partition_key
                            AND frame.partition_key = ANY (partitions)
                            AND frame.execution_id = asked.execution_id
                            AND frame.attempt_index = asked.attempt_index
                          ORDER BY frame.ts_ms DESC, frame.seq DESC
                          LIMIT 1) AS newest;
END
$$;

-- How many frames an attempt has.
CREATE OR REPLACE FUNCTION ff_count_frames(home smallint, execution uuid, attempt integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    RETURN (SELECT count(*)
              FROM ff_stream_frame AS frame
             WHERE frame.partition_key = home
               AND frame.execution_id = execution
               AND frame.attempt_index = attempt);
END
$$;

-- See 1045_function_paths.
DO $$
DECLARE
    home regnamespace := (SELECT relnamespace FROM pg_class WHERE oid = 'ff_exec_core'::regclass)::regnamespace;
    made text;
BEGIN
    FOREACH made IN ARRAY ARRAY['ff_newest_frames(smallint[], uuid[], integer[])', 'ff_count_frames(smallint, uuid, integer)']
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, %s, pg_temp', made, home);
        EXECUTE format('ALTER FUNCTION %s SET plan_cache_mode = force_custom_plan', made);
    END LOOP;
END
$$;
