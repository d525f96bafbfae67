-- part: typed_live
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.flow_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held ON held.partition_key = core.partition_key AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND core.lifecycle_phase = 'active'
     AND core.ownership_state <> 'lease_revoked' AND held.partition_key = :partition_key
     AND held.execution_id = :execution_id AND held.attempt_index = :attempt_index AND held.lease_epoch = :lease_epoch
     AND held.lease_expires_at_ms > :now_ms AND held.outcome IS NULL
     FOR UPDATE OF core, held
);

-- name: typed_renew :opt
-- use: lease_event(source = fence, event = 'renewed')
-- use: attempt_renewed
-- use: typed_live
SELECT lease.event_id AS lease_event_id FROM lease;

-- part: typed_unlapsed
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.flow_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held ON held.partition_key = core.partition_key AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND core.lifecycle_phase = 'active'
     AND core.ownership_state <> 'lease_revoked' AND held.partition_key = :partition_key
     AND held.execution_id = :execution_id AND held.attempt_index = :attempt_index
     -- Without an epoch the caller overrides the lease's holder.
     AND (CAST(:lease_epoch AS bigint) IS NULL OR held.lease_epoch = :lease_epoch)
     AND (held.lease_expires_at_ms IS NULL OR held.lease_expires_at_ms > :now_ms) AND held.outcome IS NULL
     FOR UPDATE OF core, held
);

-- part: typed_completed
WITH core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
         public_state = 'completed', attempt_state = 'attempt_terminal', blocking_reason = NULL,
         terminal_at_ms = :now_ms, result = :result,
         raw_fields = core.raw_fields || jsonb_build_object('terminal_outcome', 'success')
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
);

-- name: typed_complete :opt
-- use: completion_event(outcome = 'success')
-- use: lease_event(source = fence, event = 'revoked')
-- use: attempt_closed(outcome = 'success')
-- use: typed_unlapsed
-- use: typed_completed
SELECT completion.event_id AS completion_event_id, lease.event_id AS lease_event_id FROM completion CROSS JOIN lease;

-- part: typed_held
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.flow_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held ON held.partition_key = core.partition_key AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND core.lifecycle_phase = 'active'
     AND core.ownership_state <> 'lease_revoked' AND held.partition_key = :partition_key
     AND held.execution_id = :execution_id AND held.attempt_index = :attempt_index
     -- Without an epoch the caller overrides the lease's holder.
     AND (CAST(:lease_epoch AS bigint) IS NULL OR held.lease_epoch = :lease_epoch) AND held.outcome IS NULL
     FOR UPDATE OF core, held
);

-- part: typed_failed
WITH core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
         public_state = 'failed', attempt_state = 'attempt_terminal', blocking_reason = NULL, terminal_at_ms = :now_ms,
         raw_fields = core.raw_fields
                      || jsonb_build_object('terminal_outcome', 'failed', 'failure_reason',
                                            CAST(:failure_reason AS text), 'last_failure_message',
                                            CAST(:failure_reason AS text))
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
);

-- name: typed_fail :opt
-- use: typed_held
-- use: completion_event(outcome = 'failed')
-- use: lease_event(source = fence, event = 'revoked')
-- use: attempt_closed(outcome = 'failed')
-- use: typed_failed
SELECT completion.event_id AS completion_event_id, lease.event_id AS lease_event_id FROM completion CROSS JOIN lease;

-- part: typed_retried
WITH core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = 'not_eligible_until_time',
         public_state = 'delayed', attempt_state = 'pending_retry_attempt',
         blocking_reason = 'waiting_for_retry_backoff', attempt_index = :attempt_index + 1,
         deadline_at_ms = :retry_at_ms,
         raw_fields = CASE
                        WHEN core.deadline_at_ms IS NULL THEN core.raw_fields
                        ELSE jsonb_set(core.raw_fields, '{execution_deadline_at}', CAST(CAST(core.deadline_at_ms AS text) AS jsonb))
                      END
                      || jsonb_build_object('failure_reason', CAST(:failure_reason AS text), 'last_failure_message',
                                            CAST(:failure_reason AS text), 'pending_retry_reason',
                                            CAST(:failure_reason AS text), 'pending_previous_attempt_index',
                                            CAST(CAST(:attempt_index AS integer) AS text), 'retry_count',
                                            CAST(:retry_count AS text), 'delay_until',
                                            CAST(CAST(:retry_at_ms AS bigint) AS text))
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
);

-- name: typed_retry :opt
-- use: typed_held
-- use: lease_event(source = fence, event = 'revoked')
-- use: attempt_closed(outcome = 'failed')
-- use: typed_retried
SELECT lease.event_id AS lease_event_id FROM lease;

-- part: typed_granted
WITH gate AS (
  SELECT core.partition_key, core.execution_id, core.raw_fields, core.attempt_state
    FROM ff_exec_core AS core
    JOIN ff_claim_grant AS granted
      ON granted.partition_key = core.partition_key AND granted.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
     AND core.lifecycle_phase IN ('submitted', 'runnable') AND core.ownership_state = 'unowned'
     AND core.eligibility_state IN ('eligible_now', 'pending_claim')
     AND core.attempt_state NOT IN ('running_attempt', 'attempt_interrupted') AND granted.partition_key = :partition_key
     AND granted.execution_id = :execution_id AND granted.worker_id = :worker_id
     AND (granted.expires_at_ms <= 0 OR granted.expires_at_ms >= :now_ms)
     AND granted.grant_id = (SELECT newest.grant_id FROM ff_claim_grant AS newest
                              WHERE newest.partition_key = :partition_key AND newest.execution_id = :execution_id
                                AND newest.kind = 'claim'
                              ORDER BY newest.issued_at_ms DESC, newest.grant_id LIMIT 1)
     FOR UPDATE OF core, granted
);

-- part: typed_claim_attempt
WITH attempt AS (
  INSERT INTO ff_attempt AS held
         (partition_key, execution_id, attempt_index, worker_id, worker_instance_id, lease_epoch, lease_expires_at_ms,
          started_at_ms, policy, raw_fields)
  SELECT gate.partition_key, gate.execution_id, :attempt_index, :worker_id, :worker_instance_id, 1,
         :lease_expires_at_ms, :now_ms, :policy,
         jsonb_build_object('attempt_type',
                            CASE gate.attempt_state
                              WHEN 'pending_retry_attempt' THEN 'retry'
                              WHEN 'pending_replay_attempt' THEN 'replay'
                              ELSE 'initial'
                            END,
                            'attempt_id', CAST(:attempt_id AS text), 'lease_id', CAST(:lease_id AS text))
    FROM gate
   WHERE true
      ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
     SET worker_id = excluded.worker_id, worker_instance_id = excluded.worker_instance_id,
         lease_epoch = held.lease_epoch + 1, lease_expires_at_ms = excluded.lease_expires_at_ms,
         started_at_ms = COALESCE(held.started_at_ms, excluded.started_at_ms), terminal_at_ms = NULL, outcome = NULL,
         policy = excluded.policy,
         raw_fields = held.raw_fields || excluded.raw_fields
  RETURNING held.lease_epoch, CASE WHEN jsonb_typeof(held.raw_fields -> 'attempt_type') = 'string'
                                THEN held.raw_fields ->> 'attempt_type' END AS attempt_type
);

-- part: typed_claimed
WITH core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'active', ownership_state = 'leased', eligibility_state = 'not_applicable',
         public_state = 'active', attempt_state = 'running_attempt', blocking_reason = NULL,
         attempt_index = :attempt_index + 1, started_at_ms = COALESCE(core.started_at_ms, :now_ms),
         deadline_at_ms = COALESCE(:deadline_at_ms, core.deadline_at_ms),
         raw_fields = (core.raw_fields - 'claim_grant')
                      || jsonb_build_object('current_attempt_id', CAST(:attempt_id AS text), 'current_lease_id',
                                            CAST(:lease_id AS text), 'current_worker_id', CAST(:worker_id AS text),
                                            'current_worker_instance_id', CAST(:worker_instance_id AS text),
                                            'pending_retry_reason', '', 'pending_replay_reason', '',
                                            'pending_replay_requested_by', '', 'pending_previous_attempt_index', '',
                                            'total_attempt_count',
                                            (SELECT CAST(count(*) + 1 AS text) FROM ff_attempt AS earlier
                                              WHERE earlier.partition_key = :partition_key
                                                AND earlier.execution_id = :execution_id
                                                AND earlier.attempt_index <> :attempt_index))
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM gate)
),
used AS (
  DELETE FROM ff_claim_grant
   WHERE partition_key = :partition_key AND execution_id = :execution_id AND kind = 'claim'
     AND EXISTS (SELECT 1 FROM gate)
);

-- name: typed_claim :opt
-- use: lease_event(source = gate, event = 'acquired')
-- use: typed_granted
-- use: typed_claim_attempt
-- use: typed_claimed
SELECT attempt.lease_epoch, attempt.attempt_type, lease.event_id AS lease_event_id FROM attempt CROSS JOIN lease;

-- name: typed_lock :opt
SELECT core.lane_id, core.lifecycle_phase, core.ownership_state, core.eligibility_state, core.attempt_state,
       core.attempt_index, core.deadline_at_ms, core.raw_fields
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   FOR UPDATE;

-- name: typed_attempt_take :one
INSERT INTO ff_attempt AS held
       (partition_key, execution_id, attempt_index, worker_id, worker_instance_id, lease_epoch, lease_expires_at_ms,
        started_at_ms, raw_fields)
VALUES (:partition_key, :execution_id, :attempt_index, :worker, :worker, 1, :lease_expires_at_ms, :now_ms,
        :attempt_fields)
    ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
   SET worker_id = excluded.worker_id, worker_instance_id = excluded.worker_instance_id,
       lease_epoch = held.lease_epoch + 1, lease_expires_at_ms = excluded.lease_expires_at_ms,
       started_at_ms = COALESCE(held.started_at_ms, excluded.started_at_ms), terminal_at_ms = NULL, outcome = NULL,
       raw_fields = held.raw_fields || CAST(:attempt_fields AS jsonb)
RETURNING lease_epoch;

-- name: typed_attempt_resume :opt
UPDATE ff_attempt AS held
   SET worker_id = :worker, worker_instance_id = :worker, lease_epoch = held.lease_epoch + 1,
       lease_expires_at_ms = :lease_expires_at_ms, started_at_ms = :now_ms, terminal_at_ms = NULL, outcome = NULL,
       raw_fields = held.raw_fields
                    || jsonb_build_object('attempt_id', CAST(:attempt_id AS text), 'lease_id', CAST(:lease_id AS text))
 WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id AND held.attempt_index = :attempt_index
RETURNING lease_epoch;

-- name: typed_execution_take :exec
UPDATE ff_exec_core AS core
   SET lifecycle_phase = 'active', ownership_state = 'leased', eligibility_state = 'not_applicable',
       public_state = 'running', attempt_state = 'running_attempt', blocking_reason = NULL,
       deadline_at_ms = CASE
                          WHEN core.eligibility_state = 'not_eligible_until_time' THEN
                            CAST(core.raw_fields ->> 'execution_deadline_at' AS bigint)
                          ELSE core.deadline_at_ms
                        END,
       attempt_index = :attempt_pointer, started_at_ms = COALESCE(core.started_at_ms, :now_ms),
       raw_fields = (core.raw_fields - 'claim_grant')
                    || jsonb_build_object('current_attempt_id', CAST(:attempt_id AS text), 'current_lease_id',
                                          CAST(:lease_id AS text), 'current_worker_id', CAST(:worker AS text),
                                          'current_worker_instance_id', CAST(:worker AS text), 'pending_retry_reason',
                                          '', 'pending_replay_reason', '', 'pending_replay_requested_by', '',
                                          'pending_previous_attempt_index', '', 'total_attempt_count',
                                          (SELECT CAST(count(*) AS text) FROM ff_attempt AS started
                                            WHERE started.partition_key = :partition_key
                                              AND started.execution_id = :execution_id))
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id;
