-- The attempt of a handle and its execution, while the handle holds the lease: what acts for an attempt does
-- nothing without it.
-- part: attempt_held
-- require: fence
WITH fence AS (
  SELECT core.partition_key, core.execution_id, core.flow_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS held ON held.partition_key = core.partition_key AND held.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND core.lifecycle_phase = 'active'
     AND held.partition_key = :partition_key AND held.execution_id = :execution_id
     AND held.attempt_index = :attempt_index AND held.lease_epoch = :lease_epoch AND held.outcome IS NULL
);

-- Closes the attempt of a handle.
-- part: attempt_closed(:outcome)
-- both
WITH attempt AS (
  UPDATE ff_attempt AS attempt SET outcome = :outcome, terminal_at_ms = :now_ms, lease_expires_at_ms = NULL
   WHERE attempt.partition_key = :partition_key AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index AND EXISTS (SELECT 1 FROM fence)
);

-- Ends the running attempt and its execution with success. No row: the handle does not hold the lease.
-- name: attempt_complete :opt
-- use: attempt_held
-- use: attempt_closed(outcome = 'success')
-- use: completion_event(outcome = 'success')
-- use: lease_event(source = fence, event = 'revoked')
-- param: result bytes null
WITH core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
         public_state = 'completed', attempt_state = 'attempt_terminal', blocking_reason = NULL,
         terminal_at_ms = :now_ms, result = :result
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
  RETURNING flow_id
)
SELECT completion.event_id AS completion_event_id, lease.event_id AS lease_event_id, core.flow_id
  FROM completion CROSS JOIN lease CROSS JOIN core;

-- Ends the running attempt and its execution with a failure. No row: the handle does not hold the lease.
-- name: attempt_fail :opt
-- use: attempt_held
-- use: attempt_closed(outcome = 'failed')
-- use: completion_event(outcome = 'failed')
-- use: lease_event(source = fence, event = 'revoked')
WITH core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
         public_state = 'failed', attempt_state = 'attempt_terminal', blocking_reason = NULL, terminal_at_ms = :now_ms,
         raw_fields = json_set(core.raw_fields, '$.last_failure_message', CAST(:failure_message AS text))
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
  RETURNING flow_id
)
SELECT completion.event_id AS completion_event_id, lease.event_id AS lease_event_id, core.flow_id
  FROM completion CROSS JOIN lease CROSS JOIN core;

-- Merges a flat object of progress members into the open document; other members stay. No row: the handle
-- does not hold the lease.
-- name: attempt_progress :opt
-- use: attempt_held
-- param: changed_fields json
UPDATE ff_exec_core AS core SET raw_fields = json_patch(core.raw_fields, :changed_fields)
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
RETURNING execution_id;

-- Reads what decides why a handle was refused: the state of its attempt and of the execution around it.
-- name: attempt_fence_read :opt
-- both
SELECT attempt.lease_epoch, attempt.outcome, attempt.terminal_at_ms AS attempt_terminal_at_ms,
       attempt.raw_fields AS attempt_fields, core.lifecycle_phase, core.eligibility_state, core.attempt_index,
       core.deadline_at_ms, core.result
  FROM ff_attempt AS attempt
  LEFT JOIN ff_exec_core AS core ON core.partition_key = :partition_key AND core.execution_id = :execution_id
 WHERE attempt.partition_key = :partition_key AND attempt.execution_id = :execution_id
   AND attempt.attempt_index = :attempt_index;

-- Finds the attempt that a typed claim or a reclaim gave that id.
-- name: attempt_named_read :opt
-- param: attempt_id text
SELECT attempt.attempt_index FROM ff_attempt AS attempt
 WHERE attempt.partition_key = :partition_key AND attempt.execution_id = :execution_id
   AND CAST(json_extract(attempt.raw_fields, '$.attempt_id') AS text) = :attempt_id
 ORDER BY attempt.attempt_index DESC LIMIT 1;

-- Reads the attempt that runs or ran last: the one the execution points to, else the newest. A typed claim
-- leaves the pointer one ahead of the attempt it started, so the pointer alone does not say it.
-- name: attempt_running_read :opt
-- both
SELECT attempt.attempt_index, attempt.worker_id, attempt.worker_instance_id, attempt.lease_epoch,
       attempt.lease_expires_at_ms, attempt.started_at_ms, attempt.terminal_at_ms, attempt.outcome, attempt.raw_fields
  FROM ff_exec_core AS core
  JOIN ff_attempt AS attempt ON attempt.partition_key = core.partition_key AND attempt.execution_id = core.execution_id
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   AND attempt.partition_key = :partition_key AND attempt.execution_id = :execution_id
 ORDER BY CASE WHEN attempt.attempt_index = core.attempt_index THEN 0 ELSE 1 END, attempt.attempt_index DESC LIMIT 1;

-- Cancels an execution for the worker that holds it. An execution that was never claimed has no attempt to
-- be fenced by and is cancelled as well. No row: it is missing, has ended, or another lease took over.
-- name: attempt_cancel :opt
-- use: completion_event(outcome = 'cancelled')
-- require: fence
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
);
WITH attempt AS (
  UPDATE ff_attempt AS attempt SET lease_expires_at_ms = NULL
   WHERE attempt.partition_key = :partition_key AND attempt.execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM fence) AND attempt.attempt_index = :attempt_index
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT :execution_text, :lease_id, 'revoked', :now_ms, fence.partition_key,
         CASE json_type(fence.raw_fields, '$.namespace')
           WHEN 'text' THEN json_extract(fence.raw_fields, '$.namespace') END,
         CASE json_type(fence.raw_fields, '$.tags."cairn.instance_id"')
           WHEN 'text' THEN json_extract(fence.raw_fields, '$.tags."cairn.instance_id"') END
    FROM fence
   WHERE EXISTS (SELECT 1 FROM ff_attempt AS held
                  WHERE held.partition_key = :partition_key AND held.execution_id = :execution_id
                    AND held.attempt_index = :attempt_index)
  RETURNING event_id
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'not_applicable',
         public_state = 'cancelled', attempt_state = 'cancelled', blocking_reason = NULL,
         deadline_at_ms = CASE
                            WHEN core.eligibility_state = 'not_eligible_until_time' THEN
                              CAST(json_extract(core.raw_fields, '$.execution_deadline_at') AS bigint)
                            ELSE core.deadline_at_ms
                          END,
         terminal_at_ms = :now_ms, cancellation_reason = :reason, cancelled_by = 'worker',
         raw_fields = json_set(core.raw_fields, '$.last_mutation_at', CAST(CAST(:now_ms AS bigint) AS text))
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM fence)
  RETURNING flow_id
)
SELECT completion.event_id AS completion_event_id, lease.event_id AS lease_event_id, core.flow_id
  FROM completion CROSS JOIN core LEFT JOIN lease ON true;
