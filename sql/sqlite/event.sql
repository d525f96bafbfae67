-- Tells what became of the lease of an execution, whose row `source` has.
-- part: lease_event(source, :event)
WITH lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, :event, :now_ms, source.partition_key,
         CASE json_type(source.raw_fields, '$.namespace')
           WHEN 'text' THEN json_extract(source.raw_fields, '$.namespace') END,
         CASE json_type(source.raw_fields, '$.tags."cairn.instance_id"')
           WHEN 'text' THEN json_extract(source.raw_fields, '$.tags."cairn.instance_id"') END
    FROM source
  RETURNING event_id
);

-- Tells whoever waits for an execution how it has ended.
-- part: completion_event(:outcome)
WITH completion AS (
  INSERT INTO ff_completion_event
         (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
  SELECT fence.partition_key, fence.execution_id, fence.flow_id, :outcome,
         CASE json_type(fence.raw_fields, '$.namespace')
           WHEN 'text' THEN json_extract(fence.raw_fields, '$.namespace') END,
         CASE json_type(fence.raw_fields, '$.tags."cairn.instance_id"')
           WHEN 'text' THEN json_extract(fence.raw_fields, '$.tags."cairn.instance_id"') END, :now_ms
    FROM fence
  RETURNING event_id
);

-- Lists the newest lease events, newest first.
-- name: event_lease_newest :many
-- both
SELECT told.event_id FROM ff_lease_event AS told ORDER BY told.event_id DESC LIMIT :page_size;

-- Lists lease events in their order, strictly after one.
-- name: event_lease_page :many
-- both
SELECT told.event_id, told.partition_key, told.execution_id, told.lease_id, told.event_type, told.occurred_at_ms,
       told.namespace, told.instance_tag
  FROM ff_lease_event AS told
 WHERE told.event_id > :after
 ORDER BY told.event_id LIMIT :page_size;

-- Lists the newest deliveries of signals, newest first.
-- name: event_signal_newest :many
-- both
SELECT told.event_id FROM ff_signal_event AS told ORDER BY told.event_id DESC LIMIT :page_size;

-- Lists deliveries of signals in their order, strictly after one.
-- name: event_signal_page :many
-- both
SELECT told.event_id, told.partition_key, told.execution_id, told.signal_id, told.waitpoint_id, told.source_identity,
       told.delivered_at_ms, told.namespace, told.instance_tag
  FROM ff_signal_event AS told
 WHERE told.event_id > :after
 ORDER BY told.event_id LIMIT :page_size;

-- Lists the newest completions, newest first.
-- name: event_completion_newest :many
-- both
SELECT told.event_id FROM ff_completion_event AS told ORDER BY told.event_id DESC LIMIT :page_size;

-- Lists completions in their order, strictly after one.
-- name: event_completion_page :many
-- both
SELECT told.event_id, told.partition_key, told.execution_id, told.flow_id, told.outcome, told.occurred_at_ms,
       told.namespace, told.instance_tag
  FROM ff_completion_event AS told
 WHERE told.event_id > :after
 ORDER BY told.event_id LIMIT :page_size;
