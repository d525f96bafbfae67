-- What statements over many rows ask of the rows of a flow once they have locked what they change. A volatile function
-- looks at the rows anew at each call, and so sees what was committed while its statement waited for a lock; it is
-- planned for the partition that it is asked for.

-- Whether both executions are members of the flow, and no edges lead from the second to the first.
CREATE OR REPLACE FUNCTION ff_may_depend(home smallint, flow uuid, upstream uuid, downstream uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    IF (SELECT count(*)
          FROM ff_exec_core AS core
         WHERE core.partition_key = home
           AND core.flow_id = flow
           AND core.execution_id IN (upstream, downstream)) <> 2
    THEN
        RETURN false;
    END IF;
    -- Most edges lead to an execution that nothing depends on yet.
    IF NOT EXISTS (SELECT 1
                     FROM ff_edge AS edge
                    WHERE edge.partition_key = home
                      AND edge.flow_id = flow
                      AND edge.upstream_eid = downstream)
    THEN
        RETURN true;
    END IF;
    RETURN NOT EXISTS (
        WITH RECURSIVE reach(node) AS (
            SELECT downstream
            UNION
            SELECT edge.downstream_eid
              FROM reach
              JOIN ff_edge AS edge ON edge.upstream_eid = reach.node
             WHERE edge.partition_key = home
               AND edge.flow_id = flow
        ),
        -- As many as a single edge looks at: see `edge_reach`.
        seen AS (SELECT reach.node FROM reach LIMIT 1000)
        SELECT 1
          FROM seen
        HAVING count(*) >= 1000
            OR bool_or(seen.node = upstream));
END
$$;

-- Whether an execution has not ended.
CREATE OR REPLACE FUNCTION ff_goes_on(home smallint, member uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    RETURN EXISTS (SELECT 1
                     FROM ff_exec_core AS core
                    WHERE core.partition_key = home
                      AND core.execution_id = member
                      AND core.lifecycle_phase NOT IN ('terminal', 'cancelled'));
END
$$;

-- How many edges an execution waits for or has waited for.
CREATE OR REPLACE FUNCTION ff_awaited_edges(home smallint, flow uuid, downstream uuid) RETURNS bigint
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    RETURN (SELECT count(*)
              FROM ff_edge AS edge
             WHERE edge.partition_key = home
               AND edge.flow_id = flow
               AND edge.downstream_eid = downstream
               AND CASE
                     WHEN edge.policy -> 'applied_at_ms' IS NULL
                     THEN edge.policy ->> 'edge_state' IS DISTINCT FROM 'pending'
                     ELSE jsonb_typeof(edge.policy -> 'applied_at_ms') = 'number'
                   END);
END
$$;

-- Notes a completion as followed, unless it is already or none is given; gives its id when it did so.
CREATE OR REPLACE FUNCTION ff_follow_completion(home smallint, event bigint, moment_ms bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
    followed bigint;
BEGIN
    UPDATE ff_completion_event AS ended SET dispatched_at_ms = moment_ms
     WHERE ended.partition_key = home AND ended.event_id = event AND ended.dispatched_at_ms IS NULL
    RETURNING ended.event_id INTO followed;
    RETURN followed;
END
$$;

-- See 1045_function_paths.
DO $$
DECLARE
    home regnamespace := (SELECT relnamespace FROM pg_class WHERE oid = 'ff_exec_core'::regclass)::regnamespace;
    made text;
BEGIN
    FOREACH made IN ARRAY ARRAY['ff_may_depend(smallint, uuid, uuid, uuid)', 'ff_goes_on(smallint, uuid)',
                              'ff_awaited_edges(smallint, uuid, uuid)',
                              'ff_follow_completion(smallint, bigint, bigint)']
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, %s, pg_temp', made, home);
        EXECUTE format('ALTER FUNCTION %s SET plan_cache_mode = force_custom_plan', made);
    END LOOP;
END
$$;
