-- Leases the best execution of a lane that a worker with these capabilities may run: highest priority, then
-- oldest. A paused lane has none. A fresh attempt starts at epoch 1; an attempt that ran before continues with the next epoch.
-- Attempts are numbered without gaps, so their count is the index of the newest plus one.
-- The execution is changed by an upsert because Postgres routes an insert to one partition, while an update
-- that joins would lock them all; the inserted values are inert, since a claimable row has its execution.
-- The mark of the lane and the capabilities says where to begin, and without one nothing is found: see `lease_mark`.
-- name: lease_claim :opt
-- param: lease_id text
-- diverges(where.partition_key#7b5f59, where.execution_id#e665ed, tables#61bd0d): SQLite's event reads the execution that Postgres hands over from the upsert.
-- allow(lock-order): on Postgres `ff_claim_next` locks what it hands out: one execution, which nobody has.
-- allow(stale-fence): and judges it when it has locked it.
WITH picked AS (
  SELECT ready.partition_key, ready.execution_id, ready.attempt_index
    FROM ff_claim_next AS ready
   WHERE ready.mark_key = :mark_key AND ready.lane_id = :lane_id
     AND NOT EXISTS (SELECT 1 FROM ff_lane_pause AS pause WHERE pause.lane_id = :lane_id)
);
WITH lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT substr(lower(hex(core.execution_id)), 1, 8) || '-' || substr(lower(hex(core.execution_id)), 9, 4) || '-'
         || substr(lower(hex(core.execution_id)), 13, 4) || '-' || substr(lower(hex(core.execution_id)), 17, 4) || '-'
         || substr(lower(hex(core.execution_id)), 21),
         :lease_id, 'acquired', :now_ms, core.partition_key,
         CASE json_type(core.raw_fields, '$.namespace')
           WHEN 'text' THEN json_extract(core.raw_fields, '$.namespace') END,
         CASE json_type(core.raw_fields, '$.tags."cairn.instance_id"')
           WHEN 'text' THEN json_extract(core.raw_fields, '$.tags."cairn.instance_id"') END
    FROM picked
    JOIN ff_exec_core AS core ON core.partition_key = picked.partition_key AND core.execution_id = picked.execution_id
  RETURNING event_id
),
attempt AS (
  INSERT INTO ff_attempt AS held
         (partition_key, execution_id, attempt_index, worker_id, worker_instance_id, lease_epoch, lease_expires_at_ms,
          started_at_ms)
  SELECT picked.partition_key, picked.execution_id, picked.attempt_index, :worker_id, :worker_instance_id, 1,
         :lease_expires_at_ms, :now_ms
    FROM picked
   WHERE true
      ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
     SET worker_id = excluded.worker_id, worker_instance_id = excluded.worker_instance_id,
         lease_epoch = held.lease_epoch + 1, lease_expires_at_ms = excluded.lease_expires_at_ms,
         started_at_ms = excluded.started_at_ms, outcome = NULL
  RETURNING partition_key, execution_id, attempt_index, lease_epoch
),
core AS (
  INSERT INTO ff_exec_core AS core
         (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state, eligibility_state, public_state,
          attempt_state, created_at_ms)
  SELECT picked.partition_key, picked.execution_id, :lane_id, 'terminal', 'unowned', 'not_applicable', 'skipped',
         'attempt_terminal', 0
    FROM picked
   WHERE true
      ON CONFLICT (partition_key, execution_id) DO UPDATE
     SET lifecycle_phase = 'active', ownership_state = 'leased', eligibility_state = 'not_applicable',
         public_state = 'running', attempt_state = 'running_attempt', blocking_reason = NULL,
         started_at_ms = COALESCE(core.started_at_ms, :now_ms),
         raw_fields = json_set(core.raw_fields, '$.total_attempt_count', CAST(core.attempt_index + 1 AS text))
   WHERE core.lifecycle_phase IN ('submitted', 'runnable') AND core.eligibility_state = 'eligible_now'
     AND core.ownership_state = 'unowned'
)
SELECT attempt.partition_key, attempt.execution_id, attempt.attempt_index, attempt.lease_epoch,
       lease.event_id AS lease_event_id
  FROM attempt CROSS JOIN lease;

-- Lets the attempt run until the new end of its lease.
-- part: attempt_renewed
-- both
WITH attempt AS (
  UPDATE ff_attempt AS attempt SET lease_expires_at_ms = :lease_expires_at_ms
   WHERE attempt.partition_key = :partition_key AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index AND EXISTS (SELECT 1 FROM fence)
);

-- Moves the end of a lease. A lease whose time has passed is moved as well, as long as nobody took it or
-- swept it. No row: the handle does not hold the lease.
-- name: lease_renew :opt
-- both
-- use: attempt_held
-- use: lease_event(source = fence, event = 'renewed')
-- use: attempt_renewed
SELECT lease.event_id AS lease_event_id FROM lease;

-- Remembers where begins what a worker with these capabilities may claim on a lane: makes the mark, or moves it.
-- name: lease_mark :exec
-- both
INSERT INTO ff_claim_mark AS mark (mark_key, lane_id, capabilities, made_at_ms)
VALUES (:mark_key, :lane_id, :capabilities, :now_ms)
    ON CONFLICT (mark_key) DO UPDATE
   SET made_at_ms = excluded.made_at_ms;

-- Whether the mark is there, and when it was made or moved.
-- name: lease_mark_read :opt
-- both
SELECT mark.made_at_ms FROM ff_claim_mark AS mark WHERE mark.mark_key = :mark_key;

-- Leases an attempt again, on its next epoch, for the worker that resumes it. No row: the execution has ended,
-- the lease is live, or somebody else leased the attempt since it was read.
-- name: lease_reseat :opt
-- use: lease_event(source = seat, event = 'reclaimed')
-- require: seat
WITH seat AS (
  SELECT core.partition_key, core.execution_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS free ON free.partition_key = core.partition_key AND free.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
     AND core.lifecycle_phase NOT IN ('terminal', 'cancelled') AND free.partition_key = :partition_key
     AND free.execution_id = :execution_id AND free.attempt_index = :attempt_index AND free.lease_epoch = :lease_epoch
     AND (free.lease_expires_at_ms IS NULL OR free.lease_expires_at_ms <= :now_ms)
);
WITH core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'active', ownership_state = 'leased', eligibility_state = 'not_applicable',
         public_state = 'running', attempt_state = 'running_attempt', blocking_reason = NULL,
         deadline_at_ms = CASE
                            WHEN core.eligibility_state = 'not_eligible_until_time' THEN
                              CAST(json_extract(core.raw_fields, '$.execution_deadline_at') AS bigint)
                            ELSE core.deadline_at_ms
                          END,
         started_at_ms = COALESCE(core.started_at_ms, :now_ms)
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM seat)
),
attempt AS (
  UPDATE ff_attempt AS attempt
     SET worker_id = :worker_id, worker_instance_id = :worker_instance_id, lease_epoch = attempt.lease_epoch + 1,
         lease_expires_at_ms = :lease_expires_at_ms, started_at_ms = :now_ms, outcome = NULL
   WHERE attempt.partition_key = :partition_key AND attempt.execution_id = :execution_id
     AND attempt.attempt_index = :attempt_index AND EXISTS (SELECT 1 FROM seat)
  RETURNING lease_epoch
)
SELECT attempt.lease_epoch, lease.event_id AS lease_event_id FROM attempt CROSS JOIN lease;

-- Finds the newest attempt of an execution, whatever the pointer says.
-- name: lease_newest_read :opt
-- both
SELECT attempt.attempt_index, attempt.lease_epoch FROM ff_attempt AS attempt
 WHERE attempt.partition_key = :partition_key AND attempt.execution_id = :execution_id
 ORDER BY attempt.attempt_index DESC LIMIT 1;

-- Lists leases whose time has passed and whose worker is still named, oldest first, strictly after a cursor.
-- Only the running attempt of an execution counts.
-- name: lease_expired_list :many
-- allow(limit-ties): of the attempts of an execution the current one alone holds a lease.
-- column: worker_instance_id text, lease_expires_at_ms i64
-- param: namespace text null
SELECT held.partition_key, held.execution_id, held.attempt_index, held.lease_epoch, held.worker_instance_id,
       held.lease_expires_at_ms
  FROM ff_attempt AS held
  JOIN ff_exec_core AS core ON core.partition_key = held.partition_key AND core.execution_id = held.execution_id
 WHERE held.lease_expires_at_ms IS NOT NULL AND held.lease_expires_at_ms <= :as_of_ms
   AND held.worker_instance_id IS NOT NULL AND core.public_state IN ('claimed', 'running', 'active')
   AND (CAST(:namespace AS text) IS NULL
        OR json_type(core.raw_fields, '$.namespace') = 'text' AND json_extract(core.raw_fields, '$.namespace') = :namespace)
   AND (held.lease_expires_at_ms, held.partition_key, held.execution_id) > (:after_expires_at_ms, :after_partition_key,
                                                                            :after_execution_id)
   AND (core.attempt_index = held.attempt_index
        OR NOT EXISTS (SELECT 1 FROM ff_attempt AS other
                        WHERE other.partition_key = held.partition_key AND other.execution_id = held.execution_id
                          AND (other.attempt_index = core.attempt_index OR other.attempt_index > held.attempt_index)))
 ORDER BY held.lease_expires_at_ms, held.partition_key, held.execution_id LIMIT :page_size;
