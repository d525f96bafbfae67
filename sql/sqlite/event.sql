-- Lists the newest lease events, newest first.
-- name: event_lease_newest :many
SELECT told.event_id FROM ff_lease_event AS told ORDER BY told.event_id DESC LIMIT :page_size;

-- Lists lease events in their order, strictly after one.
-- name: event_lease_page :many
SELECT told.event_id, told.partition_key, told.execution_id, told.lease_id, told.event_type, told.occurred_at_ms,
       told.namespace, told.instance_tag
  FROM ff_lease_event AS told
 WHERE told.event_id > :after
 ORDER BY told.event_id LIMIT :page_size;

-- Lists the newest deliveries of signals, newest first.
-- name: event_signal_newest :many
SELECT told.event_id FROM ff_signal_event AS told ORDER BY told.event_id DESC LIMIT :page_size;

-- Lists deliveries of signals in their order, strictly after one.
-- name: event_signal_page :many
SELECT told.event_id, told.partition_key, told.execution_id, told.signal_id, told.waitpoint_id, told.source_identity,
       told.delivered_at_ms, told.namespace, told.instance_tag
  FROM ff_signal_event AS told
 WHERE told.event_id > :after
 ORDER BY told.event_id LIMIT :page_size;

-- Lists the newest completions, newest first.
-- name: event_completion_newest :many
-- allow(shard-key): a subscription is over all partitions
SELECT told.event_id FROM ff_completion_event AS told ORDER BY told.event_id DESC LIMIT :page_size;

-- Lists completions in their order, strictly after one.
-- name: event_completion_page :many
-- allow(shard-key): a subscription is over all partitions
SELECT told.event_id, told.partition_key, told.execution_id, told.flow_id, told.outcome, told.occurred_at_ms,
       told.namespace, told.instance_tag
  FROM ff_completion_event AS told
 WHERE told.event_id > :after
 ORDER BY told.event_id LIMIT :page_size;
