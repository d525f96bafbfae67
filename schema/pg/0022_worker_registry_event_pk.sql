-- diglot: no-transaction
-- Two kinds of worker event may carry the same time stamp, so the kind joins the key.

ALTER TABLE ff_worker_registry_event
    DROP CONSTRAINT IF EXISTS ff_worker_registry_event_pkey,
    ADD CONSTRAINT ff_worker_registry_event_pkey
        PRIMARY KEY (partition_key, namespace, worker_instance_id, event_at_ms, event_kind);

-- The children of every partitioned table, which have their final columns and
-- indexes by now. A parent that has children is left alone, whoever made them.
-- One transaction per parent: one for all would need more locks than a server
-- with default settings has. The number of children comes from the setting
-- ff_sql.partitions (256 where it is not set), or from ff_exec_core where that
-- table has its children already.
CREATE OR REPLACE FUNCTION pg_temp.ff_create_children(parent regclass, digits integer DEFAULT 1) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    wanted integer := coalesce(
        nullif((SELECT count(*)::integer FROM pg_inherits WHERE inhparent = 'ff_exec_core'::regclass), 0),
        nullif(current_setting('ff_sql.partitions', true), '')::integer,
        256);
BEGIN
    IF EXISTS (SELECT FROM pg_inherits WHERE inhparent = parent) THEN
        RETURN;
    END IF;
    FOR i IN 0 .. wanted - 1 LOOP
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF %s FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
            parent::text || '_p' || lpad(i::text, greatest(digits, length(i::text)), '0'),
            parent, wanted, i);
    END LOOP;
END
$$;

DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_exec_core'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_flow_core'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_attempt'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_edge'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_edge_group'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_pending_cancel_groups'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_cancel_dispatch_outbox'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_suspension_current'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_waitpoint_pending'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_stream_frame'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_stream_summary'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_stream_meta'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_completion_event'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_budget_policy'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_budget_usage'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_budget_usage_dedup'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_quota_policy'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_quota_window'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_quota_admitted'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_cancel_backlog'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_cancel_backlog_member'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_claim_grant'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_flow_summary'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_budget_usage_by_exec'); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_worker_registry', 3); END $$;
DO $$ BEGIN PERFORM pg_temp.ff_create_children('ff_worker_registry_event', 3); END $$;

DROP FUNCTION pg_temp.ff_create_children(regclass, integer);
