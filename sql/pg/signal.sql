-- part: signal_told
WITH event AS (
  INSERT INTO ff_signal_event
         (execution_id, signal_id, waitpoint_id, source_identity, delivered_at_ms, partition_key, namespace,
          instance_tag)
  SELECT :execution_text, :signal_id, :waitpoint_text, :source_identity, :now_ms, suspended.partition_key,
         CASE jsonb_typeof(suspended.raw_fields -> 'namespace')
           WHEN 'string' THEN suspended.raw_fields ->> 'namespace' END,
           CASE jsonb_typeof(suspended.raw_fields -> 'tags' -> 'cairn.instance_id')
             WHEN 'string' THEN suspended.raw_fields -> 'tags' ->> 'cairn.instance_id' END
    FROM suspended
  RETURNING event_id
);

-- part: signal_suspended
WITH suspended AS (
  SELECT core.partition_key, core.execution_id, core.raw_fields
    FROM ff_exec_core AS core
    JOIN ff_suspension_current AS suspension
      ON suspension.partition_key = core.partition_key AND suspension.execution_id = core.execution_id
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id
     AND core.lifecycle_phase = 'suspended' AND suspension.partition_key = :partition_key
     AND suspension.execution_id = :execution_id AND suspension.suspension_id = :suspension_id
     AND CAST(suspension.member_map AS text) = :seen_members
     FOR UPDATE OF core, suspension
);

-- part: signal_resumed
WITH waitpoint AS (
  DELETE FROM ff_waitpoint_pending
   WHERE partition_key = :partition_key AND execution_id = :execution_id AND EXISTS (SELECT 1 FROM suspended)
),
core AS (
  UPDATE ff_exec_core AS core
     SET lifecycle_phase = 'runnable', eligibility_state = 'eligible_now', public_state = 'resumable'
   WHERE core.partition_key = :partition_key AND core.execution_id = :execution_id AND EXISTS (SELECT 1 FROM suspended)
),
suspension AS (
  UPDATE ff_suspension_current AS suspension SET member_map = :members, timeout_at_ms = NULL
   WHERE suspension.partition_key = :partition_key
     AND suspension.execution_id = (SELECT suspended.execution_id FROM suspended)
);

-- part: signal_completion
WITH completion AS (
  INSERT INTO ff_completion_event (partition_key, execution_id, outcome, namespace, instance_tag, occurred_at_ms)
  SELECT suspended.partition_key, suspended.execution_id, 'resumable',
         CASE jsonb_typeof(suspended.raw_fields -> 'namespace')
           WHEN 'string' THEN suspended.raw_fields ->> 'namespace' END,
         CASE jsonb_typeof(suspended.raw_fields -> 'tags' -> 'cairn.instance_id')
           WHEN 'string' THEN suspended.raw_fields -> 'tags' ->> 'cairn.instance_id' END, :now_ms
    FROM suspended
  RETURNING event_id
);

-- name: signal_resume :opt
-- use: signal_suspended
-- use: signal_told
-- use: signal_completion
-- use: signal_resumed
SELECT event.event_id AS signal_event_id, completion.event_id AS completion_event_id FROM event CROSS JOIN completion;

-- Adds to several suspensions, each another execution's, the signal that makes its condition hold, as
-- `attempt_complete_many` ends executions. No row for an execution that is not suspended any more. What was read of a
-- suspension is held against it where the reason stands in the row that is inserted otherwise.
-- rows: given(partition_key i16 key, execution_id uuid key, suspension_id uuid, seen_members text, execution_text text)
-- rows: given(signal_id text, waitpoint_text text, source_identity text, now_ms i64, members json)
-- name: signal_resume_many :opt
-- each: signal_resume or fails — a suspension that received another signal since it was read refuses the whole; each is then resumed alone.
-- allow(lock-order): the executions are locked by the upsert, whose rows the function is given.
-- column: signal_event_id i64
-- column: completion_event_id i64
WITH member AS (
  SELECT given.ordinality, given.partition_key, given.execution_id, given.suspension_id, given.seen_members,
         given.execution_text, given.signal_id, given.waitpoint_text, given.source_identity, given.now_ms,
         given.members
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
     SET lifecycle_phase = 'runnable', eligibility_state = 'eligible_now', public_state = 'resumable'
   WHERE core.lifecycle_phase = 'suspended'
  RETURNING core.partition_key, core.execution_id, core.public_state, core.raw_fields
),
suspension AS (
  INSERT INTO ff_suspension_current AS held
         (partition_key, execution_id, suspension_id, suspended_at_ms, timeout_at_ms, reason_code, condition, member_map)
  SELECT core.partition_key, core.execution_id, member.suspension_id, member.now_ms, 0, member.seen_members, 'null',
         member.members
    FROM core
    JOIN member ON member.partition_key = core.partition_key AND member.execution_id = core.execution_id
   WHERE core.public_state <> 'skipped'
      ON CONFLICT (partition_key, execution_id) DO UPDATE
     SET member_map = excluded.member_map, timeout_at_ms = NULL
   WHERE held.suspension_id = excluded.suspension_id AND CAST(held.member_map AS text) = excluded.reason_code
  RETURNING held.partition_key, held.execution_id, held.timeout_at_ms
),
event AS (
  INSERT INTO ff_signal_event
         (execution_id, signal_id, waitpoint_id, source_identity, delivered_at_ms, partition_key, namespace,
          instance_tag)
  SELECT member.execution_text, member.signal_id, member.waitpoint_text, member.source_identity, member.now_ms,
         core.partition_key,
         CASE jsonb_typeof(core.raw_fields -> 'namespace') WHEN 'string' THEN core.raw_fields ->> 'namespace' END,
         CASE jsonb_typeof(core.raw_fields -> 'tags' -> 'cairn.instance_id')
           WHEN 'string' THEN core.raw_fields -> 'tags' ->> 'cairn.instance_id' END
    FROM core
    JOIN member ON member.partition_key = core.partition_key AND member.execution_id = core.execution_id
  RETURNING event_id, execution_id
),
completion AS (
  INSERT INTO ff_completion_event (partition_key, execution_id, outcome, namespace, instance_tag, occurred_at_ms)
  SELECT core.partition_key, core.execution_id, 'resumable',
         CASE jsonb_typeof(core.raw_fields -> 'namespace') WHEN 'string' THEN core.raw_fields ->> 'namespace' END,
         CASE jsonb_typeof(core.raw_fields -> 'tags' -> 'cairn.instance_id')
           WHEN 'string' THEN core.raw_fields -> 'tags' ->> 'cairn.instance_id' END, member.now_ms
    FROM core
    JOIN member ON member.partition_key = core.partition_key AND member.execution_id = core.execution_id
  RETURNING event_id, partition_key, execution_id
)
SELECT member.ordinality, event.event_id AS signal_event_id, completion.event_id AS completion_event_id
  FROM core
  JOIN member ON member.partition_key = core.partition_key AND member.execution_id = core.execution_id
  LEFT JOIN suspension ON suspension.partition_key = core.partition_key AND suspension.execution_id = core.execution_id
  JOIN completion ON completion.partition_key = core.partition_key AND completion.execution_id = core.execution_id
  JOIN event ON event.execution_id = member.execution_text
 WHERE ff_expect_all(suspension.execution_id IS NOT NULL AND suspension.timeout_at_ms IS NULL)
   AND (SELECT ff_close_waitpoints(array_agg(resumed.partition_key ORDER BY resumed.execution_id),
                                   array_agg(resumed.execution_id ORDER BY resumed.execution_id))
          FROM core AS resumed) IS NOT NULL;
