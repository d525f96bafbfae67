-- part: attempt_held
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.flow_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held ON held.partition_key = core.partition_key AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND core.lifecycle_phase = 'active'
     AND held.partition_key = :partition_key AND held.execution_id = :execution_id
     AND held.attempt_index = :attempt_index AND held.lease_epoch = :lease_epoch
     -- Who took the attempt over while this waited for its lock shows in the row that is locked.
     AND held.outcome IS NULL
     FOR UPDATE OF core, held
);

-- part: completed
WITH core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
         public_state = 'completed', attempt_state = 'attempt_terminal', blocking_reason = NULL,
         terminal_at_ms = :now_ms, result = :result
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
  RETURNING core.flow_id
);

-- name: attempt_complete :opt
-- use: attempt_held
-- use: attempt_closed(outcome = 'success')
-- use: completion_event(outcome = 'success')
-- use: lease_event(source = fence, event = 'revoked')
-- use: completed
SELECT completion.event_id AS completion_event_id, lease.event_id AS lease_event_id, core.flow_id
  FROM completion CROSS JOIN lease CROSS JOIN core;

-- part: attempts_ended(:outcome)
WITH attempt AS (
  INSERT INTO ff_attempt AS held (partition_key, execution_id, attempt_index, lease_epoch, terminal_at_ms)
  SELECT core.partition_key, core.execution_id, member.attempt_index, member.lease_epoch, member.now_ms
    FROM core
    JOIN member ON member.partition_key = core.partition_key AND member.execution_id = core.execution_id
   WHERE core.public_state <> 'skipped'
      ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
     SET outcome = :outcome, terminal_at_ms = excluded.terminal_at_ms, lease_expires_at_ms = NULL
   WHERE held.lease_epoch = excluded.lease_epoch AND held.outcome IS NULL
  RETURNING held.partition_key, held.execution_id, held.outcome
),
completion AS (
  INSERT INTO ff_completion_event
         (partition_key, execution_id, flow_id, outcome, namespace, instance_tag, occurred_at_ms)
  SELECT core.partition_key, core.execution_id, core.flow_id, :outcome,
         CASE jsonb_typeof(core.raw_fields -> 'namespace') WHEN 'string' THEN core.raw_fields ->> 'namespace' END,
         CASE jsonb_typeof(core.raw_fields -> 'tags' -> 'cairn.instance_id')
           WHEN 'string' THEN core.raw_fields -> 'tags' ->> 'cairn.instance_id' END, member.now_ms
    FROM core
    JOIN member ON member.partition_key = core.partition_key AND member.execution_id = core.execution_id
  RETURNING event_id, partition_key, execution_id
);

-- Ends several attempts and their executions with success, each another one's. No row for an execution that is not active
-- any more.
--
-- The executions are changed by an upsert because Postgres routes an insert to one partition, while a join would plan
-- and lock them all; it waits for each in its turn, in the order of their keys, and judges it as it then is. A handle
-- that does not hold the lease of an active execution refuses the whole: `ff_expect_all` answers with an error, so nothing
-- is changed and nothing inserted, and each is ended alone. So is each where somebody holds one of them for more than a
-- moment, so that nobody waits for a neighbour's row.
-- rows: given(partition_key i16 key, execution_id uuid key, attempt_index i32, lease_epoch i64, execution_text text, lease_id text)
-- rows: given(now_ms i64, result bytes null)
-- name: attempt_complete_many :opt
-- each: attempt_complete
-- use: attempts_ended(outcome = 'success')
-- use: leases_told(event = 'revoked')
-- column: completion_event_id i64
-- column: lease_event_id i64
WITH member AS (
  SELECT given.ordinality, given.partition_key, given.execution_id, given.attempt_index, given.lease_epoch,
         given.execution_text, given.lease_id, given.now_ms, given.result
    FROM given
   WHERE set_config('lock_timeout', '100ms', true) IS NOT NULL
),
core AS (
  INSERT INTO ff_exec_core AS core
         (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state, eligibility_state,
          public_state, attempt_state, created_at_ms, terminal_at_ms, result)
  SELECT member.partition_key, member.execution_id, '', 'terminal', 'unowned', 'not_applicable',
         'skipped', 'attempt_terminal', 0, member.now_ms, member.result
    FROM member
   WHERE true
   ORDER BY member.partition_key, member.execution_id
      ON CONFLICT (partition_key, execution_id) DO UPDATE
     SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
         public_state = 'completed', attempt_state = 'attempt_terminal', blocking_reason = NULL,
         terminal_at_ms = excluded.terminal_at_ms, result = excluded.result
   WHERE core.lifecycle_phase = 'active'
  RETURNING core.partition_key, core.execution_id, core.flow_id, core.public_state, core.raw_fields
)
SELECT member.ordinality, completion.event_id AS completion_event_id, lease.event_id AS lease_event_id, core.flow_id
  FROM core
  JOIN member ON member.partition_key = core.partition_key AND member.execution_id = core.execution_id
  LEFT JOIN attempt ON attempt.partition_key = core.partition_key AND attempt.execution_id = core.execution_id
  JOIN completion ON completion.partition_key = core.partition_key AND completion.execution_id = core.execution_id
  JOIN lease ON lease.execution_id = member.execution_text
 WHERE ff_expect_all(attempt.outcome IS NOT NULL);

-- part: failed
WITH core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
         public_state = 'failed', attempt_state = 'attempt_terminal', blocking_reason = NULL, terminal_at_ms = :now_ms,
         raw_fields = core.raw_fields || jsonb_build_object('last_failure_message', CAST(:failure_message AS text))
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
  RETURNING core.flow_id
);

-- name: attempt_fail :opt
-- use: attempt_held
-- use: attempt_closed(outcome = 'failed')
-- use: completion_event(outcome = 'failed')
-- use: lease_event(source = fence, event = 'revoked')
-- use: failed
SELECT completion.event_id AS completion_event_id, lease.event_id AS lease_event_id, core.flow_id
  FROM completion CROSS JOIN lease CROSS JOIN core;

-- Ends several attempts and their executions with a failure, each another one's, as `attempt_complete_many` does with success.
-- rows: given(partition_key i16 key, execution_id uuid key, attempt_index i32, lease_epoch i64, execution_text text, lease_id text)
-- rows: given(now_ms i64, failure_message text)
-- name: attempt_fail_many :opt
-- each: attempt_fail
-- use: attempts_ended(outcome = 'failed')
-- use: leases_told(event = 'revoked')
-- column: completion_event_id i64
-- column: lease_event_id i64
WITH member AS (
  SELECT given.ordinality, given.partition_key, given.execution_id, given.attempt_index, given.lease_epoch,
         given.execution_text, given.lease_id, given.now_ms, given.failure_message
    FROM given
   WHERE set_config('lock_timeout', '100ms', true) IS NOT NULL
),
core AS (
  INSERT INTO ff_exec_core AS core
         (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state, eligibility_state,
          public_state, attempt_state, created_at_ms, terminal_at_ms, raw_fields)
  SELECT member.partition_key, member.execution_id, '', 'terminal', 'unowned', 'not_applicable', 'skipped',
         'attempt_terminal', 0, member.now_ms, jsonb_build_object('last_failure_message', member.failure_message)
    FROM member
   WHERE true
   ORDER BY member.partition_key, member.execution_id
      ON CONFLICT (partition_key, execution_id) DO UPDATE
     SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
         public_state = 'failed', attempt_state = 'attempt_terminal', blocking_reason = NULL,
         terminal_at_ms = excluded.terminal_at_ms, raw_fields = core.raw_fields || excluded.raw_fields
   WHERE core.lifecycle_phase = 'active'
  RETURNING core.partition_key, core.execution_id, core.flow_id, core.public_state, core.raw_fields
)
SELECT member.ordinality, completion.event_id AS completion_event_id, lease.event_id AS lease_event_id, core.flow_id
  FROM core
  JOIN member ON member.partition_key = core.partition_key AND member.execution_id = core.execution_id
  LEFT JOIN attempt ON attempt.partition_key = core.partition_key AND attempt.execution_id = core.execution_id
  JOIN completion ON completion.partition_key = core.partition_key AND completion.execution_id = core.execution_id
  JOIN lease ON lease.execution_id = member.execution_text
 WHERE ff_expect_all(attempt.outcome IS NOT NULL);

-- name: attempt_progress :opt
-- use: attempt_held
WITH core AS (
  UPDATE ff_exec_core AS core SET raw_fields = core.raw_fields || CAST(:changed_fields AS jsonb)
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
  RETURNING core.execution_id
)
SELECT core.execution_id FROM core;

-- name: attempt_named_read :opt
SELECT attempt.attempt_index FROM ff_attempt AS attempt
 WHERE attempt.partition_key = :partition_key AND attempt.execution_id = :execution_id
   AND attempt.raw_fields ->> 'attempt_id' = :attempt_id
 ORDER BY attempt.attempt_index DESC LIMIT 1;

-- part: attempt_unended
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.flow_id, core.raw_fields, core.attempt_index
    FROM ff_exec_core AS core
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
     AND core.lifecycle_phase NOT IN ('terminal', 'cancelled')
     AND NOT EXISTS (SELECT 1 FROM ff_attempt AS held
                      WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
                        AND held.attempt_index = :attempt_index
                        AND (held.lease_epoch <> :lease_epoch OR held.outcome IS NOT NULL))
     AND NOT EXISTS (SELECT 1 FROM ff_attempt AS later
                      WHERE later.partition_key = :partition_key AND later.execution_id = :execution_id
                        AND later.attempt_index > :attempt_index)
     FOR UPDATE OF core
),
attempt AS (
  UPDATE ff_attempt AS attempt SET lease_expires_at_ms = NULL
   WHERE attempt.partition_key = :partition_key AND attempt.execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM fence) AND attempt.attempt_index = :attempt_index
);

-- part: attempt_cancel_told
WITH lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, 'revoked', :now_ms, fence.partition_key,
         CASE jsonb_typeof(fence.raw_fields -> 'namespace') WHEN 'string' THEN fence.raw_fields ->> 'namespace' END,
         CASE jsonb_typeof(fence.raw_fields -> 'tags' -> 'cairn.instance_id')
           WHEN 'string' THEN fence.raw_fields -> 'tags' ->> 'cairn.instance_id' END
    FROM fence
   WHERE EXISTS (SELECT 1 FROM ff_attempt AS held
                  WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
                    AND held.attempt_index = :attempt_index)
  RETURNING event_id
);

-- part: attempt_cancelled
WITH core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
         public_state = 'cancelled', attempt_state = 'cancelled', blocking_reason = NULL,
         deadline_at_ms = CASE
                            WHEN core.eligibility_state = 'not_eligible_until_time' THEN
                              CAST(core.raw_fields ->> 'execution_deadline_at' AS bigint)
                            ELSE core.deadline_at_ms
                          END,
         terminal_at_ms = :now_ms, cancellation_reason = :reason, cancelled_by = 'worker',
         raw_fields = core.raw_fields || jsonb_build_object('last_mutation_at', CAST(CAST(:now_ms AS bigint) AS text))
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
  RETURNING core.flow_id
);

-- name: attempt_cancel :opt
-- use: completion_event(outcome = 'cancelled')
-- use: attempt_unended
-- use: attempt_cancel_told
-- use: attempt_cancelled
SELECT completion.event_id AS completion_event_id, lease.event_id AS lease_event_id, core.flow_id
  FROM completion CROSS JOIN core LEFT JOIN lease ON true;
