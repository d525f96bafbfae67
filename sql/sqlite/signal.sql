-- Reads all that a delivery to a waitpoint depends on: its token and the secret that signed it, the
-- suspension that it belongs to, and whether its execution still is suspended.
-- name: signal_target_read :opt
-- both
SELECT waiting.execution_id, waiting.token_kid, waiting.token, waiting.waitpoint_key, signing.secret,
       core.lifecycle_phase, suspension.suspension_id, CAST(suspension.condition AS text) AS condition_text,
       CAST(suspension.member_map AS text) AS members_text
  FROM ff_waitpoint_pending AS waiting
  LEFT JOIN ff_waitpoint_hmac AS signing ON signing.kid = waiting.token_kid
  LEFT JOIN ff_exec_core AS core ON core.partition_key = :partition_key AND core.execution_id = waiting.execution_id
  LEFT JOIN ff_suspension_current AS suspension
    ON suspension.partition_key = :partition_key AND suspension.execution_id = waiting.execution_id
 WHERE waiting.partition_key = :partition_key AND waiting.waitpoint_id = :waitpoint_id;

-- Tells that a signal has come.
-- part: signal_told
WITH event AS (
  INSERT INTO ff_signal_event
         (execution_id, signal_id, waitpoint_id, source_identity, delivered_at_ms, partition_key, namespace,
          instance_tag)
  SELECT :execution_text, :signal_id, :waitpoint_text, :source_identity, :now_ms, suspended.partition_key,
         CASE json_type(suspended.raw_fields, '$.namespace')
           WHEN 'text' THEN json_extract(suspended.raw_fields, '$.namespace') END,
         CASE json_type(suspended.raw_fields, '$.tags."cairn.instance_id"')
           WHEN 'text' THEN json_extract(suspended.raw_fields, '$.tags."cairn.instance_id"') END
    FROM suspended
  RETURNING event_id
);

-- The execution that waits for a signal, by its suspension.
-- part: signal_suspended
-- diverges(where.member_map#b092a5): the databases space JSON text differently; it is only parsed and compared with itself.
-- require: suspended
WITH suspended AS (
  SELECT core.partition_key, core.execution_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_suspension_current AS suspension
      ON suspension.partition_key = core.partition_key AND suspension.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
     AND core.lifecycle_phase = 'suspended' AND suspension.partition_key = :partition_key
     AND suspension.execution_id = :execution_id AND suspension.suspension_id = :suspension_id
     AND CAST(suspension.member_map AS text) = :seen_members
);

-- Notes what a suspension has received.
-- part: signal_noted
-- both
WITH suspension AS (
  UPDATE ff_suspension_current AS suspension SET member_map = :members
   WHERE suspension.partition_key = :partition_key
     AND suspension.execution_id = (SELECT suspended.execution_id FROM suspended)
);

-- Adds a signal to what a suspension has received; its condition does not hold yet. No row: the suspension
-- received another signal since it was read, or it is over.
-- name: signal_append :opt
-- both
-- use: signal_suspended
-- use: signal_told
-- param: members json, source_identity text, waitpoint_text text, seen_members text
-- use: signal_noted
SELECT event.event_id AS signal_event_id FROM event;

-- Adds the signal that makes the condition of a suspension hold: the execution becomes resumable and its
-- waitpoints go away. No row: the suspension received another signal since it was read, or it is over.
-- name: signal_resume :opt
-- use: signal_suspended
-- use: signal_told
-- param: members json, source_identity text, waitpoint_text text, seen_members text
WITH completion AS (
  INSERT INTO ff_completion_event (partition_key, execution_id, outcome, namespace, instance_tag, occurred_at_ms)
  SELECT suspended.partition_key, suspended.execution_id, 'resumable',
         CASE json_type(suspended.raw_fields, '$.namespace')
           WHEN 'text' THEN json_extract(suspended.raw_fields, '$.namespace') END,
         CASE json_type(suspended.raw_fields, '$.tags."cairn.instance_id"')
           WHEN 'text' THEN json_extract(suspended.raw_fields, '$.tags."cairn.instance_id"') END, :now_ms
    FROM suspended
  RETURNING event_id
),
waitpoint AS (
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
)
SELECT event.event_id AS signal_event_id, completion.event_id AS completion_event_id FROM event CROSS JOIN completion;

-- Reads the signals that a suspension received, and those of the one before while it has none.
-- name: signal_members_read :opt
-- both
SELECT CAST(suspension.member_map AS text) AS members_text FROM ff_suspension_current AS suspension
 WHERE suspension.partition_key = :partition_key AND suspension.execution_id = :execution_id;

-- Reads what an operator's signal needs: the lane of the execution, and the token of the waitpoint.
-- name: signal_operator_read :opt
-- both
SELECT core.lane_id, waiting.token
  FROM ff_exec_core AS core
  LEFT JOIN ff_waitpoint_pending AS waiting
    ON waiting.partition_key = :partition_key AND waiting.waitpoint_id = :waitpoint_id
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;
