-- name: budget_add :rows
WITH wanted AS (
  SELECT used.dimensions_key, used.current_value + CAST(given.value AS bigint) AS new_value, policy.policy_json
    FROM jsonb_each_text(:deltas) AS given
    JOIN ff_budget_usage AS used ON used.dimensions_key = given.key
   CROSS JOIN ff_budget_policy AS policy
   WHERE used.partition_key = :partition_key AND used.budget_id = :budget_id
     AND used.current_value <= 9223372036854775807 - CAST(given.value AS bigint)
     AND policy.partition_key = :partition_key AND policy.budget_id = :budget_id
   ORDER BY used.dimensions_key COLLATE "C" FOR UPDATE OF used
),
within AS (
  SELECT count(*) AS found FROM wanted
   WHERE jsonb_typeof(wanted.policy_json) = 'object'
     AND NOT EXISTS (SELECT 1
                       FROM jsonb_each(wanted.policy_json) AS limits
                      CROSS JOIN jsonb_each(CASE jsonb_typeof(limits.value)
                                              WHEN 'object' THEN limits.value
                                              ELSE '{}'
                                            END) AS given
                      WHERE limits.key IN ('hard_limits', 'soft_limits') AND given.key = wanted.dimensions_key
                        AND CASE jsonb_typeof(given.value)
                              WHEN 'number' THEN CAST(given.value AS numeric) BETWEEN 1 AND wanted.new_value - 1
                              ELSE false
                            END)
)
UPDATE ff_budget_usage AS used SET current_value = wanted.new_value, updated_at_ms = :now_ms FROM wanted
 WHERE used.partition_key = :partition_key AND used.budget_id = :budget_id
   AND used.dimensions_key = wanted.dimensions_key AND (SELECT within.found FROM within) = :dimension_count;

-- name. `deltas` is an object of what is added per dimension. `Missing`: a dimension has no counter yet;
-- name: budget_report :one
WITH asked AS (
  SELECT given.key AS dimension, CAST(given.value AS bigint) AS delta FROM jsonb_each_text(:deltas) AS given
),
held AS (
  SELECT used.dimensions_key, used.current_value FROM ff_budget_usage AS used
   WHERE used.partition_key = :partition_key AND used.budget_id = :budget_id
     AND used.dimensions_key IN (SELECT asked.dimension FROM asked)
   ORDER BY used.dimensions_key COLLATE "C" FOR UPDATE
),
limits AS (
  SELECT of_kind.key AS kind, given.key AS dimension,
         CAST(least(CAST(CAST(given.value AS text) AS numeric), 9223372036854775807) AS bigint) AS limit_value
    FROM ff_budget_policy AS policy
   CROSS JOIN jsonb_each(CASE jsonb_typeof(policy.policy_json) WHEN 'object' THEN policy.policy_json ELSE '{}' END) AS of_kind
   CROSS JOIN jsonb_each(CASE jsonb_typeof(of_kind.value) WHEN 'object' THEN of_kind.value ELSE '{}' END) AS given
   WHERE policy.partition_key = :partition_key AND policy.budget_id = :budget_id
     AND of_kind.key IN ('hard_limits', 'soft_limits') AND CAST(given.value AS text) ~ '^[0-9]*[1-9][0-9]*$'
),
unreadable AS (
  SELECT 1 AS found FROM ff_budget_policy AS policy
   WHERE policy.partition_key = :partition_key AND policy.budget_id = :budget_id
     AND jsonb_typeof(policy.policy_json) <> 'object'
),
wanted AS (
  SELECT asked.dimension, held.current_value,
         CASE
           WHEN held.current_value > 9223372036854775807 - asked.delta THEN 9223372036854775807
           ELSE held.current_value + asked.delta
         END AS new_value,
         hard.limit_value AS hard_limit, soft.limit_value AS soft_limit
    FROM asked
    LEFT JOIN held ON held.dimensions_key = asked.dimension
    LEFT JOIN limits AS hard ON hard.kind = 'hard_limits' AND hard.dimension = asked.dimension
    LEFT JOIN limits AS soft ON soft.kind = 'soft_limits' AND soft.dimension = asked.dimension
),
verdict AS (
  SELECT 0 AS rank, 'Unreadable' AS kind, '' AS dimension, CAST(0 AS bigint) AS current_usage,
         CAST(0 AS bigint) AS limit_value
    FROM unreadable
  UNION ALL
  SELECT 1 AS rank, 'Missing' AS kind, wanted.dimension, 0 AS current_usage, 0 AS limit_value FROM wanted
   WHERE wanted.current_value IS NULL
  UNION ALL
  SELECT 2 AS rank, 'HardBreach' AS kind, wanted.dimension, wanted.current_value AS current_usage,
         wanted.hard_limit AS limit_value
    FROM wanted
   WHERE wanted.new_value > wanted.hard_limit
  UNION ALL
  SELECT 3 AS rank, 'SoftBreach' AS kind, wanted.dimension, wanted.new_value AS current_usage,
         wanted.soft_limit AS limit_value
    FROM wanted
   WHERE wanted.new_value > wanted.soft_limit
  UNION ALL
  SELECT 4 AS rank, 'Ok' AS kind, '' AS dimension, 0 AS current_usage, 0 AS limit_value
),
answer AS (
  SELECT verdict.kind, verdict.dimension, verdict.current_usage, verdict.limit_value FROM verdict
   ORDER BY verdict.rank, verdict.dimension COLLATE "C" LIMIT 1
),
policy AS (
  UPDATE ff_budget_policy AS policy
     SET breach_count = policy.breach_count + CASE WHEN answer.kind = 'HardBreach' THEN 1 ELSE 0 END,
         soft_breach_count = policy.soft_breach_count + CASE WHEN answer.kind = 'SoftBreach' THEN 1 ELSE 0 END,
         last_breach_at_ms = CASE WHEN answer.kind = 'HardBreach' THEN :now_ms ELSE policy.last_breach_at_ms END,
         last_breach_dim = CASE WHEN answer.kind = 'HardBreach' THEN answer.dimension ELSE policy.last_breach_dim END
    FROM answer
   WHERE policy.partition_key = :partition_key AND policy.budget_id = :budget_id
     AND answer.kind IN ('HardBreach', 'SoftBreach')
),
usage AS (
  UPDATE ff_budget_usage AS used SET current_value = wanted.new_value, updated_at_ms = :now_ms
    FROM wanted CROSS JOIN answer
   WHERE used.partition_key = :partition_key AND used.budget_id = :budget_id AND used.dimensions_key = wanted.dimension
     AND answer.kind IN ('SoftBreach', 'Ok')
)
SELECT answer.kind, answer.dimension, answer.current_usage, answer.limit_value FROM answer;

-- name: budget_policy_read :opt
SELECT CAST(policy.policy_json AS text) AS policy_json, policy.scope_type, policy.scope_id, policy.enforcement_mode,
       policy.breach_count, policy.soft_breach_count, policy.last_breach_at_ms, policy.last_breach_dim,
       policy.next_reset_at_ms, policy.created_at_ms
  FROM ff_budget_policy AS policy
 WHERE policy.partition_key = :partition_key AND policy.budget_id = :budget_id;

-- name: budget_usage_list :many
SELECT used.dimensions_key, used.current_value FROM ff_budget_usage AS used
 WHERE used.partition_key = :partition_key AND used.budget_id = :budget_id
 ORDER BY used.dimensions_key COLLATE "C";

-- name: budget_usage_ensure :exec
INSERT INTO ff_budget_usage (partition_key, budget_id, dimensions_key, current_value, updated_at_ms)
SELECT :partition_key, :budget_id, wanted.value, 0, :now_ms FROM unnest(CAST(:dimensions AS text[])) AS wanted (value)
 WHERE true
 ORDER BY wanted.value COLLATE "C"
    ON CONFLICT (partition_key, budget_id, dimensions_key) DO NOTHING;

-- name: budget_usage_lock :many
SELECT used.dimensions_key FROM ff_budget_usage AS used
 WHERE used.partition_key = :partition_key AND used.budget_id = :budget_id
 ORDER BY used.dimensions_key COLLATE "C" FOR UPDATE;

-- name: budget_policy_lock :opt
SELECT CAST(policy.policy_json AS text) AS policy_json, policy.next_reset_at_ms FROM ff_budget_policy AS policy
 WHERE policy.partition_key = :partition_key AND policy.budget_id = :budget_id
   FOR UPDATE;

-- name: budget_try_lock :one
WITH usage AS (
  SELECT held.budget_id FROM ff_budget_usage AS held
   WHERE held.partition_key = :partition_key AND held.budget_id = :budget_id
     FOR UPDATE SKIP LOCKED
),
policy AS (
  SELECT held.budget_id FROM ff_budget_policy AS held
   WHERE held.partition_key = :partition_key AND held.budget_id = :budget_id
     FOR UPDATE SKIP LOCKED
)
SELECT (SELECT count(*) FROM usage) + (SELECT count(*) FROM policy) AS kept_count,
       (SELECT count(*) FROM ff_budget_usage AS held
         WHERE held.partition_key = :partition_key AND held.budget_id = :budget_id)
       + (SELECT count(*) FROM ff_budget_policy AS held
           WHERE held.partition_key = :partition_key AND held.budget_id = :budget_id) AS there_count;

-- name: budget_dedup_read :opt
SELECT CAST(known.outcome_json AS text) AS outcome_json FROM ff_budget_usage_dedup AS known
 WHERE known.partition_key = :partition_key AND known.dedup_key = :dedup_key;

-- name: budget_ledger_add :exec
-- allow(unproved-steps): no document is made whose members have any name and hold numbers.
INSERT INTO ff_budget_usage_by_exec AS spent
       (partition_key, budget_id, execution_id, dimensions_key, delta_total, updated_at_ms)
SELECT :partition_key, :budget_id, CAST(:execution_text AS uuid), given.key, CAST(given.value AS bigint), :now_ms
  FROM jsonb_each_text(:deltas) AS given
 WHERE true
 ORDER BY given.key COLLATE "C"
    ON CONFLICT (partition_key, budget_id, execution_id, dimensions_key) DO UPDATE
   SET delta_total = CASE
                       WHEN spent.delta_total > 9223372036854775807 - excluded.delta_total THEN 9223372036854775807
                       ELSE spent.delta_total + excluded.delta_total
                     END,
       updated_at_ms = excluded.updated_at_ms;

-- name: budget_ledger_release :exec
WITH gone AS (
  DELETE FROM ff_budget_usage_by_exec
   WHERE partition_key = :partition_key AND budget_id = :budget_id AND execution_id = CAST(:execution_text AS uuid)
  RETURNING dimensions_key, delta_total
)
UPDATE ff_budget_usage AS used
   SET current_value = greatest(used.current_value - gone.delta_total, 0), updated_at_ms = :now_ms FROM gone
 WHERE used.partition_key = :partition_key AND used.budget_id = :budget_id AND used.dimensions_key = gone.dimensions_key;

-- name: budget_reset_due :many
SELECT policy.budget_id FROM ff_budget_policy AS policy
 WHERE policy.partition_key = :partition_key AND policy.next_reset_at_ms <= :now_ms
 ORDER BY policy.next_reset_at_ms, policy.budget_id COLLATE "C" LIMIT :page_size;

-- name: budget_policy_list :many
SELECT policy.budget_id, CAST(policy.policy_json AS text) AS policy_json, policy.last_breach_at_ms
  FROM ff_budget_policy AS policy
 WHERE policy.partition_key = :partition_key AND policy.budget_id COLLATE "C" > :after
 ORDER BY policy.budget_id COLLATE "C" LIMIT :page_size;
