-- Suspends the running attempt and its execution and activates the first waitpoint of the suspension. No row:
-- the handle does not hold the lease, another secret signs now, or the idempotency key was used before.
-- name: suspension_enter :opt
-- use: lease_event(source = fence, event = 'revoked')
-- require: fence
-- param: condition json, required_signal_names text[], timeout_at_ms i64 null, idempotency_key text null
-- param: bare_key text null
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held ON held.partition_key = core.partition_key AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND core.lifecycle_phase = 'active'
     AND held.partition_key = :partition_key AND held.execution_id = :execution_id
     AND held.attempt_index = :attempt_index AND held.lease_epoch = :lease_epoch AND held.outcome IS NULL
     -- The token has to be signed with the newest active secret.
     AND :token_kid = (SELECT signing.kid FROM ff_waitpoint_hmac AS signing
                        WHERE signing.active
                        ORDER BY signing.rotated_at_ms DESC, signing.kid LIMIT 1)
     -- Who came first with this key has its outcome there.
     AND NOT EXISTS (SELECT 1 FROM ff_suspend_dedup AS done
                      WHERE done.partition_key = :partition_key
                        AND done.idempotency_key IN (:idempotency_key, :bare_key))
);
WITH suspension AS (
  INSERT INTO ff_suspension_current
         (partition_key, execution_id, suspension_id, suspended_at_ms, timeout_at_ms, reason_code, condition,
          satisfied_set, member_map, timeout_behavior)
  SELECT fence.partition_key, fence.execution_id, :suspension_id, :now_ms, :timeout_at_ms, :reason_code, :condition,
         '[]', '{}', :timeout_behavior
    FROM fence
   WHERE true
      ON CONFLICT (partition_key, execution_id) DO UPDATE
     SET suspension_id = excluded.suspension_id, suspended_at_ms = excluded.suspended_at_ms,
         timeout_at_ms = excluded.timeout_at_ms, reason_code = excluded.reason_code, condition = excluded.condition,
         satisfied_set = excluded.satisfied_set, member_map = excluded.member_map,
         timeout_behavior = excluded.timeout_behavior
),
waitpoint AS (
  INSERT INTO ff_waitpoint_pending
         (partition_key, waitpoint_id, execution_id, token_kid, token, created_at_ms, expires_at_ms, waitpoint_key,
          state, required_signal_names, activated_at_ms)
  SELECT fence.partition_key, :waitpoint_id, fence.execution_id, :token_kid, :token, :now_ms, :timeout_at_ms,
         :waitpoint_key, 'active', :required_signal_names, :now_ms
    FROM fence
   WHERE true
      ON CONFLICT (partition_key, waitpoint_id) DO UPDATE
     SET token_kid = excluded.token_kid, token = excluded.token, waitpoint_key = excluded.waitpoint_key,
         state = excluded.state, required_signal_names = excluded.required_signal_names,
         activated_at_ms = excluded.activated_at_ms
),
attempt AS (
  UPDATE ff_attempt AS attempt
     SET worker_id = NULL, worker_instance_id = NULL, lease_expires_at_ms = NULL, lease_epoch = attempt.lease_epoch + 1,
         outcome = 'attempt_interrupted'
   WHERE attempt.partition_key = :partition_key AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index AND EXISTS (SELECT 1 FROM fence)
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'suspended', ownership_state = 'released', eligibility_state = 'not_applicable',
         public_state = 'suspended', attempt_state = 'attempt_interrupted'
   WHERE core.partition_key = :partition_key AND core.execution_id = (SELECT fence.execution_id FROM fence)
)
SELECT lease.event_id AS lease_event_id FROM lease;

-- Keeps the outcome of a suspension under its idempotency key.
-- name: suspension_dedup_insert :rows
-- both
INSERT INTO ff_suspend_dedup (partition_key, idempotency_key, outcome_json, created_at_ms)
VALUES (:partition_key, :idempotency_key, :outcome_json, :now_ms)
    ON CONFLICT (partition_key, idempotency_key) DO NOTHING;

-- Reads the outcome that a suspension kept under its idempotency key.
-- name: suspension_dedup_read :opt
-- both
SELECT CAST(done.outcome_json AS text) AS outcome_text FROM ff_suspend_dedup AS done
 WHERE done.partition_key = :partition_key AND done.idempotency_key = :idempotency_key;

-- Reads the suspension of an execution as its timeout needs it.
-- name: suspension_read :opt
-- both
SELECT suspension.timeout_at_ms, suspension.timeout_behavior, CAST(suspension.member_map AS text) AS members_text
  FROM ff_suspension_current AS suspension
 WHERE suspension.partition_key = :partition_key AND suspension.execution_id = :execution_id;

-- Replaces what a suspension has received.
-- name: suspension_members_write :exec
-- both
-- param: members json
UPDATE ff_suspension_current SET member_map = :members
 WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- Takes the timeout from a suspension.
-- name: suspension_timeout_clear :exec
-- both
UPDATE ff_suspension_current SET timeout_at_ms = NULL
 WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- Deletes the suspension of an execution.
-- name: suspension_delete :rows
-- both
DELETE FROM ff_suspension_current WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- Makes a suspended execution resumable without a signal.
-- name: suspension_resume :exec
-- both
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'runnable', ownership_state = 'released', eligibility_state = 'eligible_now',
       public_state = 'resumable', attempt_state = 'attempt_interrupted'
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Tells that an execution can be resumed. It names no flow, because dependants wait for an end.
-- name: suspension_resumable_event_insert :one
INSERT INTO ff_completion_event (partition_key, execution_id, outcome, namespace, instance_tag, occurred_at_ms)
SELECT core.partition_key, core.execution_id, 'resumable',
       CASE json_type(core.raw_fields, '$.namespace')
         WHEN 'text' THEN json_extract(core.raw_fields, '$.namespace') END,
       CASE json_type(core.raw_fields, '$.tags."cairn.instance_id"')
         WHEN 'text' THEN json_extract(core.raw_fields, '$.tags."cairn.instance_id"') END, :now_ms
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
RETURNING event_id;

-- Ends a suspended execution whose suspension timed out.
-- name: suspension_expire :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
       public_state = :public_state, attempt_state = 'attempt_terminal', blocking_reason = NULL,
       terminal_at_ms = :now_ms, cancellation_reason = :cancellation_reason,
       raw_fields = json_set(core.raw_fields, '$.last_failure_message', 'suspension_timeout')
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- Ends the attempt of an execution whose suspension timed out.
-- name: suspension_attempt_expire :exec
-- both
-- param: outcome text
UPDATE ff_attempt SET outcome = :outcome, terminal_at_ms = :now_ms, lease_expires_at_ms = NULL
 WHERE partition_key = :partition_key AND execution_id = :execution_id AND attempt_index = :attempt_index;

-- Lists the suspensions whose time is over and whose executions pass a filter, oldest first, strictly after a cursor.
-- name: suspension_due_list :many
-- param: namespace text null, tag_key text null, tag_value text null
-- column: timeout_at_ms i64
SELECT suspension.partition_key, suspension.execution_id, suspension.timeout_at_ms, core.raw_fields
  FROM ff_suspension_current AS suspension
  JOIN ff_exec_core AS core
    ON core.partition_key = suspension.partition_key AND core.execution_id = suspension.execution_id
 WHERE suspension.timeout_at_ms IS NOT NULL AND suspension.timeout_at_ms < :now_ms
   AND (suspension.timeout_at_ms, suspension.partition_key, suspension.execution_id) > (:after_timeout_at_ms,
                                                                                        :after_partition_key,
                                                                                        :after_execution_id)
   AND (:namespace IS NULL
        OR json_type(core.raw_fields, '$.namespace') = 'text' AND core.raw_fields ->> 'namespace' = :namespace)
   AND (:tag_key IS NULL
        OR EXISTS (SELECT 1 FROM json_each(core.raw_fields, '$.tags') AS tag
                    WHERE tag.key = :tag_key AND tag.atom = :tag_value))
 ORDER BY suspension.timeout_at_ms, suspension.partition_key, suspension.execution_id LIMIT :page_size;

-- Reads when an execution was suspended.
-- name: suspension_place_read :opt
-- both
SELECT suspension.suspended_at_ms FROM ff_suspension_current AS suspension
 WHERE suspension.partition_key = :partition_key AND suspension.execution_id = :execution_id;

-- Lists the suspended executions of a partition in the order in which they were suspended, strictly after a
-- place. What is kept of a suspension that is over is left out.
-- name: suspension_list :many
-- both
SELECT suspension.execution_id, suspension.suspended_at_ms, suspension.reason_code
  FROM ff_suspension_current AS suspension
  LEFT JOIN ff_exec_core AS core ON core.partition_key = :partition_key AND core.execution_id = suspension.execution_id
 WHERE suspension.partition_key = :partition_key
   AND (core.lifecycle_phase IS NULL OR core.lifecycle_phase = 'suspended')
   AND (suspension.suspended_at_ms, suspension.execution_id) > (:after_ms, :after)
 ORDER BY suspension.suspended_at_ms, suspension.execution_id LIMIT :page_size;

-- Lists the same after an execution that is no longer there, by its id alone.
-- name: suspension_list_after :many
-- both
SELECT suspension.execution_id, suspension.suspended_at_ms, suspension.reason_code
  FROM ff_suspension_current AS suspension
  LEFT JOIN ff_exec_core AS core ON core.partition_key = :partition_key AND core.execution_id = suspension.execution_id
 WHERE suspension.partition_key = :partition_key
   AND (core.lifecycle_phase IS NULL OR core.lifecycle_phase = 'suspended') AND suspension.execution_id > :after
 ORDER BY suspension.suspended_at_ms, suspension.execution_id LIMIT :page_size;
