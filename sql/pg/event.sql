-- part: lease_event(source, :event)
WITH lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, :event, :now_ms, source.partition_key,
         CASE jsonb_typeof(source.raw_fields -> 'namespace') WHEN 'string' THEN source.raw_fields ->> 'namespace' END,
         CASE jsonb_typeof(source.raw_fields -> 'tags' -> 'cairn.instance_id')
           WHEN 'string' THEN source.raw_fields -> 'tags' ->> 'cairn.instance_id' END
    FROM source
  RETURNING event_id
);

-- Tells of several leases what became of them: `core` has the executions, `member` what was given of each.
-- part: leases_told(:event)
WITH lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT member.execution_text, member.lease_id, :event, member.now_ms, core.partition_key,
         CASE jsonb_typeof(core.raw_fields -> 'namespace') WHEN 'string' THEN core.raw_fields ->> 'namespace' END,
         CASE jsonb_typeof(core.raw_fields -> 'tags' -> 'cairn.instance_id')
           WHEN 'string' THEN core.raw_fields -> 'tags' ->> 'cairn.instance_id' END
    FROM core
    JOIN member ON member.partition_key = core.partition_key AND member.execution_id = core.execution_id
  RETURNING event_id, execution_id
);

-- part: completion_event(:outcome)
WITH completion AS (
  INSERT INTO ff_completion_event
         (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
  SELECT fence.partition_key, fence.execution_id, fence.flow_id, :outcome,
         CASE jsonb_typeof(fence.raw_fields -> 'namespace') WHEN 'string' THEN fence.raw_fields ->> 'namespace' END,
         CASE jsonb_typeof(fence.raw_fields -> 'tags' -> 'cairn.instance_id')
           WHEN 'string' THEN fence.raw_fields -> 'tags' ->> 'cairn.instance_id' END, :now_ms
    FROM fence
  RETURNING event_id
);

-- Names the transactions under way that write to an outbox. Whoever inserts there, by whatever program, holds
-- this lock on the table from before its event id is drawn until its transaction has ended and can be seen.
-- A lock of a partition counts for the whole table.
-- name: event_writers :many
-- only: pg — SQLite has a single writer, so its events appear in the order of their ids.
-- param: outbox text
-- column: transaction_name text
SELECT DISTINCT held.virtualtransaction AS transaction_name FROM pg_locks AS held
 WHERE held.locktype = 'relation' AND held.mode = 'RowExclusiveLock' AND held.granted
   AND held.database = (SELECT db.oid FROM pg_database AS db WHERE db.datname = current_database())
   AND (held.relation = CAST(to_regclass(CAST(:outbox AS text)) AS oid)
        OR held.relation IN (SELECT part.inhrelid FROM pg_inherits AS part
                              WHERE part.inhparent = CAST(to_regclass(CAST(:outbox AS text)) AS oid)))
UNION
SELECT elsewhere.transaction_name FROM ff_writers_elsewhere() AS elsewhere (transaction_name);

-- Describes the transactions under way that write to an outbox, the oldest first, to whoever has to end one: a session
-- by its number, program, address and state, a prepared transaction by its name.
-- name: event_holders :many
-- only: pg — SQLite has a single writer, so its events appear in the order of their ids.
-- param: outbox text
-- column: holder text
SELECT CASE
         WHEN found.pid IS NULL THEN 'a prepared transaction: see pg_prepared_xacts'
         ELSE concat_ws(' ', 'session', CAST(found.pid AS text), NULLIF(busy.application_name, ''),
                        CAST(busy.client_addr AS text), busy.state, 'since', CAST(busy.xact_start AS text))
       END AS holder
  FROM (SELECT DISTINCT held.pid FROM pg_locks AS held
         WHERE held.locktype = 'relation' AND held.mode = 'RowExclusiveLock' AND held.granted
           AND held.database = (SELECT db.oid FROM pg_database AS db WHERE db.datname = current_database())
           AND (held.relation = CAST(to_regclass(CAST(:outbox AS text)) AS oid)
                OR held.relation IN (SELECT part.inhrelid FROM pg_inherits AS part
                                      WHERE part.inhparent = CAST(to_regclass(CAST(:outbox AS text)) AS oid)))) AS found
  LEFT JOIN pg_stat_activity AS busy ON busy.pid = found.pid
 ORDER BY busy.xact_start;
