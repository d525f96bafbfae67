-- What a database whose tables are spread over several nodes does in steps: no lock can be had there before the row's
-- partition is known. The steps are the same on every database.

-- Lists the places of a lane's queue that a worker with these capabilities may take, best first, strictly after a place.
-- name: spread_claimable_list :many
-- param: capabilities text[]
SELECT queued.partition_key, queued.execution_id, queued.priority, queued.created_at_ms FROM ff_claimable AS queued
 WHERE queued.lane_id = :lane_id
   AND NOT EXISTS (SELECT 1 FROM ff_execution_capabilities AS required
                    WHERE required.execution_id = queued.execution_id
                      AND required.capability NOT IN (SELECT value FROM json_each(:capabilities)))
   AND (queued.priority < :after_priority
        OR (queued.priority = :after_priority
            AND (queued.created_at_ms, queued.execution_id) > (:after_created_at_ms, :after_execution_id)))
 ORDER BY queued.priority DESC, queued.created_at_ms, queued.execution_id LIMIT :page_size;

-- Locks an execution and shows what decides whether it may be taken. No row: somebody has it, it is not there, or
-- capabilities are given and it needs more than those, or its flow is paused.
-- name: spread_try_lock :opt
-- param: capabilities text[]
SELECT core.lane_id, core.lifecycle_phase, core.ownership_state, core.eligibility_state, core.attempt_index,
       core.lease_reclaim_count, core.deadline_at_ms
  FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
-- if: capabilities
   AND NOT EXISTS (SELECT 1 FROM ff_execution_capabilities AS required
                    WHERE required.execution_id = core.execution_id
                      AND required.capability NOT IN (SELECT value FROM json_each(:capabilities)))
   AND (core.flow_id IS NULL
        OR NOT EXISTS (SELECT 1 FROM ff_flow_pause AS pause
                        WHERE pause.partition_key = :partition_key AND pause.flow_id = core.flow_id))
-- end
;

-- Leases the attempt, on its next epoch if there was one.
-- name: spread_attempt_take :one
-- both
INSERT INTO ff_attempt AS held
       (partition_key, execution_id, attempt_index, worker_id, worker_instance_id, lease_epoch, lease_expires_at_ms,
        started_at_ms)
VALUES (:partition_key, :execution_id, :attempt_index, :worker_id, :worker_instance_id, 1, :lease_expires_at_ms, :now_ms)
    ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
   SET worker_id = excluded.worker_id, worker_instance_id = excluded.worker_instance_id,
       lease_epoch = held.lease_epoch + 1, lease_expires_at_ms = excluded.lease_expires_at_ms,
       started_at_ms = excluded.started_at_ms, outcome = NULL
RETURNING lease_epoch;

-- Lists delayed executions whose time has come, the oldest first, of one lane or of all.
-- name: spread_delayed_list :many
-- both
SELECT queued.partition_key, queued.execution_id FROM ff_delayed AS queued
 WHERE queued.due_at_ms <= :now_ms
-- if: lane_id
   AND queued.lane_id = :lane_id
-- end
 ORDER BY queued.due_at_ms, queued.partition_key, queued.execution_id LIMIT :batch_size;

-- Makes a delayed execution whose time has come eligible, and puts its deadline back.
-- name: spread_delayed_release :rows
UPDATE ff_exec_core AS core
   SET eligibility_state = 'eligible_now', public_state = 'waiting', blocking_reason = 'waiting_for_worker',
       deadline_at_ms = CAST(json_extract(core.raw_fields, '$.execution_deadline_at') AS bigint)
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   AND core.lifecycle_phase IN ('submitted', 'runnable') AND core.eligibility_state = 'not_eligible_until_time'
   AND core.deadline_at_ms <= :now_ms;

-- Reads, and keeps as it is, what decides whether a handle may append to a stream.
-- name: spread_stream_lock :opt
SELECT core.lifecycle_phase, held.lease_epoch, held.outcome
  FROM ff_exec_core AS core
  JOIN ff_attempt AS held ON held.partition_key = core.partition_key AND held.execution_id = core.execution_id
 WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
   AND held.partition_key = :partition_key AND held.execution_id = :execution_id
   AND held.attempt_index = :attempt_index;

-- Gives a stream a counter that every frame is newer than.
-- name: spread_counter_ensure :exec
-- both
INSERT INTO ff_stream_counter (partition_key, execution_id, attempt_index, last_ms, last_seq, frame_count)
VALUES (:partition_key, :execution_id, :attempt_index, 0, -1, 0)
    ON CONFLICT (partition_key, execution_id, attempt_index) DO NOTHING;

-- Puts those who append to a stream in order.
-- name: spread_counter_lock :one
SELECT seen.last_ms, seen.last_seq, seen.frame_count FROM ff_stream_counter AS seen
 WHERE seen.partition_key = :partition_key AND seen.execution_id = :execution_id
   AND seen.attempt_index = :attempt_index;

-- Finds the newest frame of a stream.
-- name: spread_frame_newest :opt
-- both
SELECT frame.ts_ms, frame.seq FROM ff_stream_frame AS frame
 WHERE frame.partition_key = :partition_key AND frame.execution_id = :execution_id
   AND frame.attempt_index = :attempt_index
 ORDER BY frame.ts_ms DESC, frame.seq DESC LIMIT 1;

-- Counts the frames of a stream.
-- name: spread_frame_count :one
-- both
SELECT count(*) AS frame_count FROM ff_stream_frame AS frame
 WHERE frame.partition_key = :partition_key AND frame.execution_id = :execution_id
   AND frame.attempt_index = :attempt_index;

-- Notes the newest frame of a stream and how many it has.
-- name: spread_counter_write :exec
-- both
UPDATE ff_stream_counter SET last_ms = :last_ms, last_seq = :last_seq, frame_count = :frame_count
 WHERE partition_key = :partition_key AND execution_id = :execution_id AND attempt_index = :attempt_index;

-- Stores a frame.
-- name: spread_frame_insert :exec
-- both
-- param: fields json
INSERT INTO ff_stream_frame (partition_key, execution_id, attempt_index, ts_ms, seq, fields, mode, created_at_ms)
VALUES (:partition_key, :execution_id, :attempt_index, :ts_ms, :seq, :fields, :mode, :ts_ms);

-- Forgets the keys of suspensions from before a time, in every partition.
-- name: spread_suspend_key_delete :rows
-- both
DELETE FROM ff_suspend_dedup WHERE created_at_ms < :created_before_ms;

-- Forgets lease events from before a time, in every partition.
-- name: spread_lease_event_delete :rows
-- both
DELETE FROM ff_lease_event WHERE occurred_at_ms < :before_ms;

-- Forgets deliveries of signals from before a time, in every partition.
-- name: spread_signal_event_delete :rows
-- both
DELETE FROM ff_signal_event WHERE delivered_at_ms < :before_ms;

-- Forgets operator events from before a time, in every partition.
-- name: spread_operator_event_delete :rows
-- both
DELETE FROM ff_operator_event WHERE occurred_at_ms < :before_ms;

-- Forgets what executions have spent, in every partition.
-- name: spread_usage_delete :exec
-- param: executions text[]
DELETE FROM ff_budget_usage_by_exec WHERE execution_id IN (SELECT value FROM json_each(:executions));
