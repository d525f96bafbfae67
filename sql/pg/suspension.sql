-- part: suspension_fence
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
                        ORDER BY signing.rotated_at_ms DESC, signing.kid COLLATE "C" LIMIT 1)
     -- Who came first with this key has its outcome there.
     AND NOT EXISTS (SELECT 1 FROM ff_suspend_dedup AS done
                      WHERE done.partition_key = :partition_key
                        AND done.idempotency_key IN (:idempotency_key, :bare_key))
     FOR UPDATE OF core, held
);

-- part: suspension_noted
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
);

-- part: suspended
WITH attempt AS (
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
);

-- name: suspension_enter :opt
-- use: lease_event(source = fence, event = 'revoked')
-- allow(stale-fence): a secret that is retired meanwhile still verifies, and who used the key has moved the epoch, which is locked.
-- use: suspension_fence
-- use: suspension_noted
-- use: suspended
SELECT lease.event_id AS lease_event_id FROM lease;

-- Suspends several executions, each another one's, without idempotency keys, as `attempt_complete_many` ends them. No row
-- for an execution that is not active any more, or whose token is not signed with the newest active secret.
-- rows: given(partition_key i16 key, execution_id uuid key, attempt_index i32, lease_epoch i64, execution_text text, lease_id text)
-- rows: given(now_ms i64, token_kid text, suspension_id uuid, timeout_at_ms i64 null, reason_code text, condition json)
-- rows: given(timeout_behavior text, waitpoint_id uuid, token text, waitpoint_key text, required_signal_names json)
-- name: suspension_enter_many :opt
-- each: suspension_enter
-- allow(stale-fence): a secret that is retired meanwhile still verifies.
-- use: leases_told(event = 'revoked')
-- column: lease_event_id i64
WITH member AS (
  SELECT given.ordinality, given.partition_key, given.execution_id, given.attempt_index, given.lease_epoch,
         given.execution_text, given.lease_id, given.now_ms, given.token_kid, given.suspension_id, given.timeout_at_ms,
         given.reason_code, given.condition, given.timeout_behavior, given.waitpoint_id, given.token,
         given.waitpoint_key, given.required_signal_names
    FROM given
   WHERE set_config('lock_timeout', '100ms', true) IS NOT NULL
     AND given.token_kid = (SELECT signing.kid FROM ff_waitpoint_hmac AS signing
                             WHERE signing.active
                             ORDER BY signing.rotated_at_ms DESC, signing.kid COLLATE "C" LIMIT 1)
),
core AS (
  INSERT INTO ff_exec_core AS core
         (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state, eligibility_state,
          public_state, attempt_state, created_at_ms)
  SELECT member.partition_key, member.execution_id, '', 'terminal', 'unowned', 'not_applicable',
         'skipped', 'attempt_terminal', 0
    FROM member
   WHERE true
   ORDER BY member.partition_key, member.execution_id
      ON CONFLICT (partition_key, execution_id) DO UPDATE
     SET lifecycle_phase = 'suspended', ownership_state = 'released', eligibility_state = 'not_applicable',
         public_state = 'suspended', attempt_state = 'attempt_interrupted'
   WHERE core.lifecycle_phase = 'active'
  RETURNING core.partition_key, core.execution_id, core.public_state, core.raw_fields
),
attempt AS (
  INSERT INTO ff_attempt AS held (partition_key, execution_id, attempt_index, lease_epoch, outcome)
  SELECT core.partition_key, core.execution_id, member.attempt_index, member.lease_epoch, 'skipped'
    FROM core
    JOIN member ON member.partition_key = core.partition_key AND member.execution_id = core.execution_id
   WHERE core.public_state <> 'skipped'
      ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
     SET worker_id = NULL, worker_instance_id = NULL, lease_expires_at_ms = NULL, lease_epoch = held.lease_epoch + 1,
         outcome = 'attempt_interrupted'
   WHERE held.lease_epoch = excluded.lease_epoch AND held.outcome IS NULL
  RETURNING held.partition_key, held.execution_id, held.outcome
),
suspension AS (
  INSERT INTO ff_suspension_current
         (partition_key, execution_id, suspension_id, suspended_at_ms, timeout_at_ms, reason_code, condition,
          satisfied_set, member_map, timeout_behavior)
  SELECT core.partition_key, core.execution_id, member.suspension_id, member.now_ms, member.timeout_at_ms,
         member.reason_code, member.condition, '[]', '{}', member.timeout_behavior
    FROM core
    JOIN member ON member.partition_key = core.partition_key AND member.execution_id = core.execution_id
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
  SELECT core.partition_key, member.waitpoint_id, core.execution_id, member.token_kid, member.token, member.now_ms,
         member.timeout_at_ms, member.waitpoint_key, 'active',
         ARRAY(SELECT jsonb_array_elements_text(member.required_signal_names)), member.now_ms
    FROM core
    JOIN member ON member.partition_key = core.partition_key AND member.execution_id = core.execution_id
   WHERE true
      ON CONFLICT (partition_key, waitpoint_id) DO UPDATE
     SET token_kid = excluded.token_kid, token = excluded.token, waitpoint_key = excluded.waitpoint_key,
         state = excluded.state, required_signal_names = excluded.required_signal_names,
         activated_at_ms = excluded.activated_at_ms
)
SELECT member.ordinality, lease.event_id AS lease_event_id
  FROM core
  JOIN member ON member.partition_key = core.partition_key AND member.execution_id = core.execution_id
  LEFT JOIN attempt ON attempt.partition_key = core.partition_key AND attempt.execution_id = core.execution_id
  JOIN lease ON lease.execution_id = member.execution_text
 WHERE ff_expect_all(attempt.outcome = 'attempt_interrupted');

-- name: suspension_resumable_event_insert :one
INSERT INTO ff_completion_event (partition_key, execution_id, outcome, namespace, instance_tag, occurred_at_ms)
SELECT core.partition_key, core.execution_id, 'resumable',
       CASE jsonb_typeof(core.raw_fields -> 'namespace') WHEN 'string' THEN core.raw_fields ->> 'namespace' END,
       CASE jsonb_typeof(core.raw_fields -> 'tags' -> 'cairn.instance_id')
         WHEN 'string' THEN core.raw_fields -> 'tags' ->> 'cairn.instance_id' END, :now_ms
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
RETURNING event_id;

-- name: suspension_expire :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
       public_state = :public_state, attempt_state = 'attempt_terminal', blocking_reason = NULL,
       terminal_at_ms = :now_ms, cancellation_reason = :cancellation_reason,
       raw_fields = core.raw_fields || jsonb_build_object('last_failure_message', 'suspension_timeout')
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;

-- name: suspension_due_list :many
SELECT suspension.partition_key, suspension.execution_id, suspension.timeout_at_ms, core.raw_fields
  FROM ff_suspension_current AS suspension
  JOIN ff_exec_core AS core
    ON core.partition_key = suspension.partition_key AND core.execution_id = suspension.execution_id
 WHERE suspension.timeout_at_ms IS NOT NULL AND suspension.timeout_at_ms < :now_ms
   AND (suspension.timeout_at_ms, suspension.partition_key, suspension.execution_id) > (:after_timeout_at_ms,
                                                                                        :after_partition_key,
                                                                                        :after_execution_id)
   AND (CAST(:namespace AS text) IS NULL
        OR jsonb_typeof(core.raw_fields -> 'namespace') = 'string' AND core.raw_fields ->> 'namespace' = :namespace)
   AND (CAST(:tag_key AS text) IS NULL OR core.raw_fields -> 'tags' ->> CAST(:tag_key AS text) = :tag_value)
 ORDER BY suspension.timeout_at_ms, suspension.partition_key, suspension.execution_id LIMIT :page_size;
