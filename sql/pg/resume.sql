-- part: resumed
WITH seat AS (
  SELECT core.partition_key, core.execution_id, core.raw_fields, free.attempt_index
    FROM ff_exec_core AS core
    JOIN ff_attempt AS free ON free.partition_key = core.partition_key AND free.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND core.public_state = 'resumable'
     AND free.partition_key = :partition_key AND free.execution_id = :execution_id
     AND (free.attempt_index = core.attempt_index
          OR NOT EXISTS (SELECT 1 FROM ff_attempt AS other
                          WHERE other.partition_key = :partition_key AND other.execution_id = :execution_id
                            AND (other.attempt_index = core.attempt_index OR other.attempt_index > free.attempt_index)))
     FOR UPDATE OF core, free
),
attempt AS (
  UPDATE ff_attempt AS attempt
     SET worker_id = :worker_id, worker_instance_id = :worker_instance_id, lease_epoch = attempt.lease_epoch + 1,
         lease_expires_at_ms = :lease_expires_at_ms, started_at_ms = :now_ms, outcome = NULL
   WHERE attempt.partition_key = :partition_key AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = (SELECT seat.attempt_index FROM seat)
  RETURNING attempt.attempt_index, attempt.lease_epoch
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'active', ownership_state = 'leased', eligibility_state = 'not_applicable',
         public_state = 'running', attempt_state = 'running_attempt', blocking_reason = NULL,
         started_at_ms = COALESCE(core.started_at_ms, :now_ms)
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM seat)
);

-- name: resume_claim :opt
-- use: lease_event(source = seat, event = 'acquired')
-- allow(scalar-many): one attempt fits: the one the execution points to, or the newest where there is none such.
-- use: resumed
SELECT attempt.attempt_index, attempt.lease_epoch, lease.event_id AS lease_event_id FROM attempt CROSS JOIN lease;

-- Claims several resumed executions, each another one, as `attempt_complete_many` ends them. No row for an execution that is
-- not to be resumed any more.
-- rows: given(partition_key i16 key, execution_id uuid key, execution_text text, lease_id text, now_ms i64, worker_id text)
-- rows: given(worker_instance_id text, lease_expires_at_ms i64)
-- name: resume_claim_many :opt
-- each: resume_claim or fails — an execution that points to no attempt is claimed alone.
-- use: leases_told(event = 'acquired')
-- column: attempt_index i32, lease_epoch i64, lease_event_id i64
WITH member AS (
  SELECT given.ordinality, given.partition_key, given.execution_id, given.execution_text, given.lease_id, given.now_ms,
         given.worker_id, given.worker_instance_id, given.lease_expires_at_ms
    FROM given
   WHERE set_config('lock_timeout', '100ms', true) IS NOT NULL
),
core AS (
  INSERT INTO ff_exec_core AS core
         (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state, eligibility_state,
          public_state, attempt_state, created_at_ms, started_at_ms)
  SELECT member.partition_key, member.execution_id, '', 'terminal', 'unowned', 'not_applicable', 'skipped',
         'attempt_terminal', 0, member.now_ms
    FROM member
   WHERE true
   ORDER BY member.partition_key, member.execution_id
      ON CONFLICT (partition_key, execution_id) DO UPDATE
     SET lifecycle_phase = 'active', ownership_state = 'leased', eligibility_state = 'not_applicable',
         public_state = 'running', attempt_state = 'running_attempt', blocking_reason = NULL,
         started_at_ms = COALESCE(core.started_at_ms, excluded.started_at_ms)
   WHERE core.public_state = 'resumable'
  RETURNING core.partition_key, core.execution_id, core.attempt_index, core.public_state, core.raw_fields
),
attempt AS (
  INSERT INTO ff_attempt AS free
         (partition_key, execution_id, attempt_index, worker_id, worker_instance_id, lease_epoch, lease_expires_at_ms,
          started_at_ms, outcome)
  SELECT core.partition_key, core.execution_id, core.attempt_index, member.worker_id, member.worker_instance_id, 0,
         member.lease_expires_at_ms, member.now_ms, 'skipped'
    FROM core
    JOIN member ON member.partition_key = core.partition_key AND member.execution_id = core.execution_id
   WHERE core.public_state <> 'skipped'
      ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
     SET worker_id = excluded.worker_id, worker_instance_id = excluded.worker_instance_id,
         lease_epoch = free.lease_epoch + 1, lease_expires_at_ms = excluded.lease_expires_at_ms,
         started_at_ms = excluded.started_at_ms, outcome = NULL
  RETURNING free.partition_key, free.execution_id, free.attempt_index, free.lease_epoch, free.outcome
)
SELECT member.ordinality, attempt.attempt_index, attempt.lease_epoch, lease.event_id AS lease_event_id
  FROM core
  JOIN member ON member.partition_key = core.partition_key AND member.execution_id = core.execution_id
  LEFT JOIN attempt ON attempt.partition_key = core.partition_key AND attempt.execution_id = core.execution_id
  JOIN lease ON lease.execution_id = member.execution_text
 WHERE ff_expect_all(attempt.lease_epoch IS NOT NULL AND attempt.outcome IS NULL);

-- name: resume_lock :opt
SELECT core.lifecycle_phase, core.deadline_at_ms FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   FOR UPDATE;

-- name: resume_release :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = :eligibility_state,
       public_state = :public_state, attempt_state = 'attempt_interrupted', blocking_reason = :blocking_reason,
       deadline_at_ms = :deadline_at_ms, raw_fields = core.raw_fields || CAST(:changed_fields AS jsonb)
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;
