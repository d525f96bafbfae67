-- diglot: no-transaction
-- Two kinds of worker event may carry the same time stamp, so the kind joins the key.

ALTER TABLE ff_worker_registry_event
    DROP CONSTRAINT IF EXISTS ff_worker_registry_event_pkey,
    ADD CONSTRAINT ff_worker_registry_event_pkey
        PRIMARY KEY (partition_key, namespace, worker_instance_id, event_at_ms, event_kind);

-- The children of every partitioned table, which have their final columns and
-- indexes by now. Their number is that of the children the table or ff_exec_core
-- already has, else the setting ff_sql.partitions, else 256. It commits now and
-- then: a server with default settings has not locks enough for all of them, and
-- not for 256 children of one table either when several tables are done at once.
CREATE OR REPLACE PROCEDURE ff_create_children(parent text, digits integer DEFAULT 1)
LANGUAGE plpgsql AS $$
DECLARE
    wanted integer;
    child  text;
BEGIN
    SELECT substring(pg_get_expr(c.relpartbound, c.oid) FROM 'modulus (\d+)')::integer
    INTO wanted
    FROM pg_inherits AS i
    JOIN pg_class AS c ON c.oid = i.inhrelid
    WHERE i.inhparent IN (parent::regclass, 'ff_exec_core'::regclass)
    ORDER BY i.inhparent = parent::regclass DESC
    LIMIT 1;

    wanted := coalesce(wanted, nullif(current_setting('ff_sql.partitions', true), '')::integer, 256);

    IF (SELECT count(*) FROM pg_inherits WHERE inhparent = parent::regclass) = wanted THEN
        RETURN;
    END IF;

    FOR i IN 0 .. wanted - 1 LOOP
        child := parent || '_p' || lpad(i::text, greatest(digits, length(i::text)), '0');
        IF to_regclass(child) IS NULL THEN
            EXECUTE format(
                'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
                child, parent, wanted, i);
        END IF;
        IF i % 64 = 63 THEN
            COMMIT;
        END IF;
    END LOOP;
END
$$;

-- Adjacent DO blocks do not depend on one another; the migrator gives them to
-- several connections.
DO $$ BEGIN CALL ff_create_children('ff_exec_core'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_completion_event'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_stream_frame'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_attempt'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_suspension_current'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_waitpoint_pending'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_edge'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_edge_group'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_flow_core'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_pending_cancel_groups'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_cancel_dispatch_outbox'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_stream_summary'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_stream_meta'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_budget_policy'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_budget_usage'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_budget_usage_dedup'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_budget_usage_by_exec'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_quota_policy'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_quota_window'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_quota_admitted'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_cancel_backlog'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_cancel_backlog_member'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_claim_grant'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_flow_summary'); END $$;
DO $$ BEGIN CALL ff_create_children('ff_worker_registry', 3); END $$;
DO $$ BEGIN CALL ff_create_children('ff_worker_registry_event', 3); END $$;

DROP PROCEDURE ff_create_children(text, integer);
