-- Spreads the tables over the nodes of a cluster of Citus. Each statement can be repeated, and is committed by itself.

-- A row's triggers touch the queues beside it alone, which are on its shard.
SET citus.enable_unsafe_triggers = on;

SET client_min_messages = warning;

-- A transaction that sent a message cannot be part of one over two nodes. Whoever writes through this backend has its
-- messages sent after the commit.
DROP TRIGGER IF EXISTS ff_completion_event_notify_trg ON ff_completion_event;

DROP TRIGGER IF EXISTS ff_stream_frame_notify_trg ON ff_stream_frame;

DROP TRIGGER IF EXISTS ff_lease_event_notify_trg ON ff_lease_event;

DROP TRIGGER IF EXISTS ff_signal_event_notify_trg ON ff_signal_event;

DROP TRIGGER IF EXISTS ff_operator_event_notify_trg ON ff_operator_event;

-- The outboxes get the key and the number of a partition that other tables have, so that an event lies beside what it
-- tells of. A number that is no partition's stays none. Ids come from the coordinator's sequence as before.
DO $$
DECLARE
    home oid := (SELECT relnamespace FROM pg_class WHERE oid = 'ff_exec_core'::regclass);
    held record;
BEGIN
    FOR held IN
        SELECT c.oid::regclass AS name, c.relname
          FROM pg_class AS c
         WHERE c.relnamespace = home AND c.relname IN ('ff_lease_event', 'ff_signal_event', 'ff_operator_event')
           AND NOT EXISTS (SELECT 1 FROM pg_dist_partition AS done WHERE done.logicalrelid = c.oid)
           AND NOT EXISTS (SELECT 1 FROM pg_attribute AS a
                            WHERE a.attrelid = c.oid AND a.attname = 'partition_key' AND a.atttypid = 'smallint'::regtype)
    LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I, ALTER COLUMN partition_key TYPE smallint '
                       'USING CASE WHEN partition_key BETWEEN 0 AND 32767 THEN partition_key ELSE -1 END, '
                       'ADD PRIMARY KEY (partition_key, event_id)', held.name, held.relname || '_pkey');
        EXECUTE format('DROP INDEX IF EXISTS %I', held.relname || '_partition_key_idx');
        EXECUTE format('CREATE INDEX %I ON %s (event_id)', held.relname || '_event_id_idx', held.name);
        COMMIT;
    END LOOP;
END
$$;

-- What has a partition is spread by it, and lies beside the execution. Who made what by which key is asked without a
-- partition, and stays on the coordinator. The queues come first, because the
-- triggers of the executions write there, also when these are moved.
DO $$
DECLARE
    home oid := (SELECT relnamespace FROM pg_class WHERE oid = 'ff_exec_core'::regclass);
    held record;
BEGIN
    FOR held IN
        SELECT c.oid::regclass AS name
          FROM pg_class AS c
          JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'partition_key'
         WHERE c.relnamespace = home AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname LIKE 'ff\_%'
           AND c.relname <> 'ff_idempotency_key'
           AND NOT EXISTS (SELECT 1 FROM pg_dist_partition AS done WHERE done.logicalrelid = c.oid)
         ORDER BY c.relname <> 'ff_claimable', c.relname NOT IN ('ff_delayed', 'ff_flow_pause', 'ff_granted'), c.relname
    LOOP
        IF held.name = 'ff_claimable'::regclass THEN
            PERFORM create_distributed_table(held.name, 'partition_key',
                                             shard_count => current_setting('ff_sql.shards')::integer,
                                             colocate_with => 'none');
        ELSE
            PERFORM create_distributed_table(held.name, 'partition_key', colocate_with => 'ff_claimable');
        END IF;
        COMMIT;
    END LOOP;
END
$$;

-- The secrets that sign waitpoints are asked for beside what they sign.
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'ff_waitpoint_hmac'::regclass) THEN
        PERFORM create_reference_table('ff_waitpoint_hmac');
    END IF;
END
$$;

-- The coordinator's sessions hand no time limits on to those that they open on the other nodes, so these have their own.
SELECT run_command_on_workers(format('ALTER DATABASE %I SET %s', current_database(), told))
  FROM unnest(ARRAY['lock_timeout = ''5s''', 'idle_in_transaction_session_timeout = ''10s''']) AS told;

-- A part that waits on another node for its commit although nobody here is at work on it: its node did not answer then.
-- What is prepared at one moment and not the next was a commit that went on. A node that does not answer may hold any.
CREATE OR REPLACE FUNCTION ff_writers_elsewhere() RETURNS SETOF text
LANGUAGE plpgsql
AS $$
DECLARE
    asked text := 'SELECT coalesce(string_agg(gid, '','' ORDER BY gid), '''') FROM pg_prepared_xacts '
               || 'WHERE database = current_database() AND gid LIKE ''citus\_%''';
    suspected text[];
BEGIN
    SELECT array_agg(part.gid) INTO suspected
      FROM run_command_on_workers(asked) AS node
     CROSS JOIN LATERAL unnest(string_to_array(node.result, ',')) AS part (gid)
     WHERE node.success
       AND NOT EXISTS (SELECT 1 FROM get_all_active_transactions() AS active
                        WHERE split_part(part.gid, '_', 4) = active.transaction_number::text);
    RETURN QUERY
    SELECT DISTINCT '-1/' || part.gid
      FROM run_command_on_workers(asked) AS node
     CROSS JOIN LATERAL unnest(CASE WHEN node.success THEN string_to_array(node.result, ',')
                                    ELSE ARRAY[node.nodename || ':' || node.nodeport] END) AS part (gid)
     WHERE NOT node.success OR part.gid = ANY (suspected);
END
$$;

CREATE OR REPLACE FUNCTION ff_is_spread() RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT true $$;
