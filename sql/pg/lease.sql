-- name: lease_claim :opt
WITH picked AS (
  SELECT ready.partition_key, ready.execution_id, ready.attempt_index
    FROM ff_claim_next AS ready
   WHERE ready.mark_key = :mark_key AND ready.lane_id = :lane_id
     AND NOT EXISTS (SELECT 1 FROM ff_lane_pause AS pause WHERE pause.lane_id = :lane_id)
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
         raw_fields = core.raw_fields || jsonb_build_object('total_attempt_count', CAST(core.attempt_index + 1 AS text))
   WHERE core.lifecycle_phase IN ('submitted', 'runnable') AND core.eligibility_state = 'eligible_now'
     AND core.ownership_state = 'unowned'
  RETURNING core.partition_key, core.execution_id, core.raw_fields
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT CAST(core.execution_id AS text), :lease_id, 'acquired', :now_ms, core.partition_key,
         CASE jsonb_typeof(core.raw_fields -> 'namespace') WHEN 'string' THEN core.raw_fields ->> 'namespace' END,
         CASE jsonb_typeof(core.raw_fields -> 'tags' -> 'cairn.instance_id')
           WHEN 'string' THEN core.raw_fields -> 'tags' ->> 'cairn.instance_id' END
    FROM core
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
  RETURNING held.partition_key, held.execution_id, held.attempt_index, held.lease_epoch
)
SELECT attempt.partition_key, attempt.execution_id, attempt.attempt_index, attempt.lease_epoch,
       lease.event_id AS lease_event_id
  FROM attempt CROSS JOIN lease;

-- Leases the best executions of lanes to several workers, one to each in their order, as one claim after the other would.
-- Whoever finds none left has no row. What a paused lane is asked for has no mark, so nothing is found.
-- rows: given(mark_key text, lane_id text, lease_id text, now_ms i64, worker_id text, worker_instance_id text)
-- rows: given(lease_expires_at_ms i64)
-- name: lease_claim_many :opt
-- each: lease_claim by lane_id
-- allow(unproved-list): no database has a mark of the queue and work below it, so running it shows nothing.
-- allow(lock-order): the function locks what it takes, in the order of the queue and past what somebody has.
-- allow(unbounded-wait): the function has locked all of them.
-- column: lease_event_id i64
WITH picked AS (
  SELECT taken.partition_key, taken.execution_id, taken.attempt_index, given.ordinality, given.lane_id, given.lease_id,
         given.now_ms, given.worker_id, given.worker_instance_id, given.lease_expires_at_ms
    FROM ff_take_for_each((SELECT array_agg(CASE
                                            WHEN EXISTS (SELECT 1 FROM ff_lane_pause AS pause
                                                          WHERE pause.lane_id = asked.lane_id) THEN
                                              ''
                                            ELSE asked.mark_key
                                          END ORDER BY asked.ordinality)
                            FROM given AS asked))
         AS taken (ordinality, partition_key, execution_id, attempt_index)
    JOIN given
      ON given.ordinality = taken.ordinality
),
core AS (
  INSERT INTO ff_exec_core AS core
         (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state, eligibility_state, public_state,
          attempt_state, created_at_ms, started_at_ms)
  SELECT picked.partition_key, picked.execution_id, picked.lane_id, 'terminal', 'unowned', 'not_applicable', 'skipped',
         'attempt_terminal', 0, picked.now_ms
    FROM picked
   WHERE true
      ON CONFLICT (partition_key, execution_id) DO UPDATE
     SET lifecycle_phase = 'active', ownership_state = 'leased', eligibility_state = 'not_applicable',
         public_state = 'running', attempt_state = 'running_attempt', blocking_reason = NULL,
         started_at_ms = COALESCE(core.started_at_ms, excluded.started_at_ms),
         raw_fields = core.raw_fields || jsonb_build_object('total_attempt_count', CAST(core.attempt_index + 1 AS text))
   WHERE core.lifecycle_phase IN ('submitted', 'runnable') AND core.eligibility_state = 'eligible_now'
     AND core.ownership_state = 'unowned'
  RETURNING core.partition_key, core.execution_id, core.raw_fields
),
lease AS (
  INSERT INTO ff_lease_event
         (execution_id, lease_id, event_type, occurred_at_ms, partition_key, namespace, instance_tag)
  SELECT CAST(core.execution_id AS text), picked.lease_id, 'acquired', picked.now_ms, core.partition_key,
         CASE jsonb_typeof(core.raw_fields -> 'namespace') WHEN 'string' THEN core.raw_fields ->> 'namespace' END,
         CASE jsonb_typeof(core.raw_fields -> 'tags' -> 'cairn.instance_id')
           WHEN 'string' THEN core.raw_fields -> 'tags' ->> 'cairn.instance_id' END
    FROM core
    JOIN picked ON picked.partition_key = core.partition_key AND picked.execution_id = core.execution_id
  RETURNING event_id, lease_id
),
attempt AS (
  INSERT INTO ff_attempt AS held
         (partition_key, execution_id, attempt_index, worker_id, worker_instance_id, lease_epoch, lease_expires_at_ms,
          started_at_ms)
  SELECT picked.partition_key, picked.execution_id, picked.attempt_index, picked.worker_id, picked.worker_instance_id,
         1, picked.lease_expires_at_ms, picked.now_ms
    FROM picked
   WHERE true
      ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
     SET worker_id = excluded.worker_id, worker_instance_id = excluded.worker_instance_id,
         lease_epoch = held.lease_epoch + 1, lease_expires_at_ms = excluded.lease_expires_at_ms,
         started_at_ms = excluded.started_at_ms, outcome = NULL
  RETURNING held.partition_key, held.execution_id, held.attempt_index, held.lease_epoch
)
SELECT picked.ordinality, attempt.partition_key, attempt.execution_id, attempt.attempt_index, attempt.lease_epoch,
       lease.event_id AS lease_event_id
  FROM attempt
  JOIN picked ON picked.partition_key = attempt.partition_key AND picked.execution_id = attempt.execution_id
  JOIN lease ON lease.lease_id = picked.lease_id;

-- Moves the ends of several leases, each of another execution. No row for an execution that is not active any more.
--
-- The executions are locked by an upsert that leaves them as they are: see `attempt_complete_many`, also for what becomes of
-- a handle that does not hold the lease, and of rows that somebody holds for more than a moment.
-- rows: given(partition_key i16 key, execution_id uuid key, attempt_index i32, lease_epoch i64, execution_text text, lease_id text)
-- rows: given(now_ms i64, lease_expires_at_ms i64)
-- name: lease_renew_many :opt
-- each: lease_renew or fails — no active execution is skipped, as one made at random may be; such a one is renewed alone.
-- use: leases_told(event = 'renewed')
-- column: lease_event_id i64
WITH member AS (
  SELECT given.ordinality, given.partition_key, given.execution_id, given.attempt_index, given.lease_epoch,
         given.execution_text, given.lease_id, given.now_ms, given.lease_expires_at_ms
    FROM given
   WHERE set_config('lock_timeout', '100ms', true) IS NOT NULL
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
     SET created_at_ms = core.created_at_ms
   WHERE core.lifecycle_phase = 'active'
  RETURNING core.partition_key, core.execution_id, core.public_state, core.raw_fields
),
attempt AS (
  INSERT INTO ff_attempt AS held
         (partition_key, execution_id, attempt_index, lease_epoch, lease_expires_at_ms, outcome)
  SELECT core.partition_key, core.execution_id, member.attempt_index, member.lease_epoch, member.lease_expires_at_ms,
         'skipped'
    FROM core
    JOIN member ON member.partition_key = core.partition_key AND member.execution_id = core.execution_id
   WHERE core.public_state <> 'skipped'
      ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
     SET lease_expires_at_ms = excluded.lease_expires_at_ms
   WHERE held.lease_epoch = excluded.lease_epoch AND held.outcome IS NULL
  RETURNING held.partition_key, held.execution_id, held.lease_epoch, held.outcome
)
SELECT member.ordinality, lease.event_id AS lease_event_id
  FROM core
  JOIN member ON member.partition_key = core.partition_key AND member.execution_id = core.execution_id
  LEFT JOIN attempt ON attempt.partition_key = core.partition_key AND attempt.execution_id = core.execution_id
  JOIN lease ON lease.execution_id = member.execution_text
 WHERE ff_expect_all(attempt.lease_epoch IS NOT NULL AND attempt.outcome IS NULL);

-- part: reseated
WITH seat AS (
  SELECT core.partition_key, core.execution_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_attempt AS free ON free.partition_key = core.partition_key AND free.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
     AND core.lifecycle_phase NOT IN ('terminal', 'cancelled') AND free.partition_key = :partition_key
     AND free.execution_id = :execution_id AND free.attempt_index = :attempt_index AND free.lease_epoch = :lease_epoch
     AND (free.lease_expires_at_ms IS NULL OR free.lease_expires_at_ms <= :now_ms)
     FOR UPDATE OF core, free
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'active', ownership_state = 'leased', eligibility_state = 'not_applicable',
         public_state = 'running', attempt_state = 'running_attempt', blocking_reason = NULL,
         deadline_at_ms = CASE
                            WHEN core.eligibility_state = 'not_eligible_until_time' THEN
                              CAST(core.raw_fields ->> 'execution_deadline_at' AS bigint)
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
  RETURNING attempt.lease_epoch
);

-- name: lease_reseat :opt
-- use: lease_event(source = seat, event = 'reclaimed')
-- use: reseated
SELECT attempt.lease_epoch, lease.event_id AS lease_event_id FROM attempt CROSS JOIN lease;

-- name: lease_expired_list :many
SELECT held.partition_key, held.execution_id, held.attempt_index, held.lease_epoch, held.worker_instance_id,
       held.lease_expires_at_ms
  FROM ff_attempt AS held
  JOIN ff_exec_core AS core ON core.partition_key = held.partition_key AND core.execution_id = held.execution_id
 WHERE held.lease_expires_at_ms IS NOT NULL AND held.lease_expires_at_ms <= :as_of_ms
   AND held.worker_instance_id IS NOT NULL AND core.public_state IN ('claimed', 'running', 'active')
   AND (CAST(:namespace AS text) IS NULL
        OR jsonb_typeof(core.raw_fields -> 'namespace') = 'string' AND core.raw_fields ->> 'namespace' = :namespace)
   AND (held.lease_expires_at_ms, held.partition_key, held.execution_id) > (:after_expires_at_ms, :after_partition_key,
                                                                            :after_execution_id)
   AND (core.attempt_index = held.attempt_index
        OR NOT EXISTS (SELECT 1 FROM ff_attempt AS other
                        WHERE other.partition_key = held.partition_key AND other.execution_id = held.execution_id
                          AND (other.attempt_index = core.attempt_index OR other.attempt_index > held.attempt_index)))
 ORDER BY held.lease_expires_at_ms, held.partition_key, held.execution_id LIMIT :page_size;
