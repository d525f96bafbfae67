-- Leases the best execution of a lane: its place in the queue is locked first, then the execution.
-- name: lease_claim :opt
-- only: pg — the excerpt is about row locks
WITH picked AS (
  SELECT ready.partition_key, ready.execution_id
    FROM ff_claimable AS ready
   WHERE ready.lane_id = :lane_id
   ORDER BY ready.priority DESC, ready.created_at_ms, ready.execution_id
   LIMIT 1
     FOR UPDATE SKIP LOCKED
)
INSERT INTO ff_exec_core AS core
       (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state, eligibility_state, created_at_ms)
SELECT picked.partition_key, picked.execution_id, :lane_id, 'terminal', 'unowned', 'not_applicable', 0
  FROM picked
 WHERE true
    ON CONFLICT (partition_key, execution_id) DO UPDATE
   SET lifecycle_phase = 'active',
       ownership_state = 'leased',
       eligibility_state = 'not_applicable'
RETURNING core.partition_key, core.execution_id;

-- Makes delayed executions eligible whose time has come.
-- name: execution_promote_due :rows
-- only: pg — the excerpt is about row locks
WITH due AS (
  SELECT waiting.partition_key, waiting.execution_id, waiting.lane_id
    FROM ff_delayed AS waiting
   WHERE waiting.due_at_ms <= :now_ms
   ORDER BY waiting.due_at_ms, waiting.partition_key, waiting.execution_id
   LIMIT :batch_size
     FOR UPDATE SKIP LOCKED
)
INSERT INTO ff_exec_core AS core
       (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state, eligibility_state, created_at_ms)
SELECT due.partition_key, due.execution_id, due.lane_id, 'terminal', 'unowned', 'not_applicable', 0
  FROM due
 WHERE true
    ON CONFLICT (partition_key, execution_id) DO UPDATE
   SET eligibility_state = 'eligible_now'
 WHERE core.eligibility_state = 'not_eligible_until_time'
   AND core.deadline_at_ms <= :now_ms;

-- Takes an execution out of its queue while it is blocked.
-- name: admission_block :rows
-- only: pg — the excerpt is about row locks
UPDATE ff_exec_core
   SET eligibility_state = 'blocked_by_operator'
 WHERE partition_key = :partition_key
   AND execution_id = :execution_id
   AND ownership_state = 'unowned';

-- Reads what decides whether an execution's time is over, and keeps it so until the transaction ends.
-- name: expiry_execution_lock :opt
-- only: pg — the excerpt is about row locks
SELECT core.lifecycle_phase, core.eligibility_state, core.deadline_at_ms
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key
   AND core.execution_id = :execution_id
   FOR UPDATE;

-- Finds the attempt of an execution whose lease ran out first.
-- name: expiry_attempt_due :opt
-- only: pg — the excerpt is about row locks
-- allow(claim-waits): it is about this execution, and whoever changes it now has to be waited for.
SELECT held.attempt_index
  FROM ff_attempt AS held
 WHERE held.partition_key = :partition_key
   AND held.execution_id = :execution_id
   AND held.lease_expires_at_ms IS NOT NULL
   AND held.lease_expires_at_ms < :now_ms
 ORDER BY held.lease_expires_at_ms, held.attempt_index
 LIMIT 1
   FOR UPDATE;

-- Takes the lease from an attempt whose worker is gone.
-- name: expiry_attempt_release :exec
-- only: pg — the excerpt is about row locks
UPDATE ff_attempt
   SET outcome = COALESCE(outcome, 'lease_expired_reclaimable'),
       lease_expires_at_ms = NULL
 WHERE partition_key = :partition_key
   AND execution_id = :execution_id
   AND attempt_index = :attempt_index;

-- Starts an attempt by a grant, which is asked and not locked.
-- name: typed_claim :opt
-- only: pg — the excerpt is about row locks
WITH gate AS (
  SELECT core.partition_key, core.execution_id
    FROM ff_exec_core AS core
    JOIN ff_claim_grant AS granted
      ON granted.partition_key = core.partition_key
     AND granted.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND core.lifecycle_phase IN ('submitted', 'runnable')
     AND core.ownership_state = 'unowned'
     AND granted.partition_key = :partition_key
     AND granted.execution_id = :execution_id
     AND granted.worker_id = :worker_id
     AND (granted.expires_at_ms <= 0 OR granted.expires_at_ms >= :now_ms)
     AND granted.grant_id = (SELECT newest.grant_id
                               FROM ff_claim_grant AS newest
                              WHERE newest.partition_key = :partition_key
                                AND newest.execution_id = :execution_id
                                AND newest.kind = 'claim'
                              ORDER BY newest.issued_at_ms DESC, newest.grant_id
                              LIMIT 1)
     FOR UPDATE OF core
),
attempt AS (
  INSERT INTO ff_attempt AS held
         (partition_key, execution_id, attempt_index, worker_id, lease_epoch, lease_expires_at_ms)
  SELECT gate.partition_key, gate.execution_id, :attempt_index, :worker_id, 1, :lease_expires_at_ms
    FROM gate
   WHERE true
      ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
     SET worker_id = excluded.worker_id,
         lease_epoch = held.lease_epoch + 1,
         lease_expires_at_ms = excluded.lease_expires_at_ms,
         outcome = NULL
  RETURNING held.lease_epoch
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'active',
         ownership_state = 'leased',
         eligibility_state = 'not_applicable'
   WHERE core.partition_key = :partition_key
     AND core.execution_id = :execution_id
     AND EXISTS (SELECT 1 FROM gate)
)
SELECT attempt.lease_epoch
  FROM attempt;
