-- part: signal_told
WITH event AS (
  INSERT INTO ff_signal_event
         (execution_id, signal_id, waitpoint_id, source_identity, delivered_at_ms, partition_key, namespace,
          instance_tag)
  SELECT :execution_text, :signal_id, :waitpoint_text, :source_identity, :now_ms, suspended.partition_key,
         CASE jsonb_typeof(suspended.raw_fields -> 'namespace')
           WHEN 'string' THEN suspended.raw_fields ->> 'namespace' END,
           CASE jsonb_typeof(suspended.raw_fields -> 'tags' -> 'cairn.instance_id')
             WHEN 'string' THEN suspended.raw_fields -> 'tags' ->> 'cairn.instance_id' END
    FROM suspended
  RETURNING event_id
);

-- part: signal_suspended
WITH suspended AS (
  SELECT core.partition_key, core.execution_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_suspension_current AS suspension
      ON suspension.partition_key = core.partition_key AND suspension.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
     AND core.lifecycle_phase = 'suspended' AND suspension.partition_key = :partition_key
     AND suspension.execution_id = :execution_id AND suspension.suspension_id = :suspension_id
     AND CAST(suspension.member_map AS text) = :seen_members
     FOR UPDATE OF core, suspension
);

-- As `signal_append`, without its events: gives what these say of the execution.
-- name: signal_append_untold :opt
-- only: pg — where the tables are spread, an event is written by a statement of its own.
-- param: members json, seen_members text
-- use: signal_suspended
-- use: signal_noted
-- use: told(source = suspended)
SELECT told.namespace, told.instance_tag FROM told;

-- part: signal_resumed
WITH waitpoint AS (
  DELETE FROM ff_waitpoint_pending
   WHERE partition_key = :partition_key AND execution_id = :execution_id AND EXISTS (SELECT 1 FROM suspended)
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'runnable', eligibility_state = 'eligible_now', public_state = 'resumable'
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM suspended)
),
suspension AS (
  UPDATE ff_suspension_current AS suspension SET member_map = :members, timeout_at_ms = NULL
   WHERE suspension.partition_key = :partition_key
     AND suspension.execution_id = (SELECT suspended.execution_id FROM suspended)
);

-- part: signal_completion
WITH completion AS (
  INSERT INTO ff_completion_event (partition_key, execution_id, outcome, namespace, instance_tag, occurred_at_ms)
  SELECT suspended.partition_key, suspended.execution_id, 'resumable',
         CASE jsonb_typeof(suspended.raw_fields -> 'namespace')
           WHEN 'string' THEN suspended.raw_fields ->> 'namespace' END,
         CASE jsonb_typeof(suspended.raw_fields -> 'tags' -> 'cairn.instance_id')
           WHEN 'string' THEN suspended.raw_fields -> 'tags' ->> 'cairn.instance_id' END, :now_ms
    FROM suspended
  RETURNING event_id
);

-- name: signal_resume :opt
-- use: signal_suspended
-- use: signal_told
-- use: signal_completion
-- use: signal_resumed
SELECT event.event_id AS signal_event_id, completion.event_id AS completion_event_id FROM event CROSS JOIN completion;

-- As `signal_resume`, without its events: gives what these say of the execution.
-- name: signal_resume_untold :opt
-- only: pg — where the tables are spread, an event is written by a statement of its own.
-- param: members json, seen_members text
-- use: signal_suspended
-- use: signal_resumed
-- use: told(source = suspended)
SELECT told.namespace, told.instance_tag FROM told;
