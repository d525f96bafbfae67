-- Counts usage where every dimension has its counter and none passes a limit or its column's end, as most reports do;
-- otherwise nothing is written and no row is answered, and `budget_report` says why. `deltas` is an object of what is
-- added per dimension.
-- name: budget_add :rows
-- param: deltas json
-- diverges(columns.policy_json#1f8360): text on SQLite can be no JSON at all; jsonb always is.
-- diverges(where.policy_json#e0b0ce): SQLite's list of members says which value is a number.
WITH wanted AS (
  SELECT used.dimensions_key, used.current_value + CAST(given.value AS integer) AS new_value,
         CASE WHEN json_valid(policy.policy_json) THEN policy.policy_json ELSE '[]' END AS policy_json
    FROM json_each(:deltas) AS given
    JOIN ff_budget_usage AS used ON used.dimensions_key = given.key
   CROSS JOIN ff_budget_policy AS policy
   WHERE used.partition_key = :partition_key AND used.budget_id = :budget_id
     AND used.current_value <= 9223372036854775807 - CAST(given.value AS integer)
     AND policy.partition_key = :partition_key AND policy.budget_id = :budget_id
   ORDER BY used.dimensions_key
),
within AS (
  SELECT count(*) AS found FROM wanted
   WHERE json_type(wanted.policy_json) = 'object'
     AND NOT EXISTS (SELECT 1
                       FROM json_each(wanted.policy_json) AS limits
                      CROSS JOIN json_each(CASE limits.type WHEN 'object' THEN limits.value ELSE '{}' END) AS given
                      WHERE limits.key IN ('hard_limits', 'soft_limits') AND given.key = wanted.dimensions_key
                        AND CASE
                              WHEN given.type IN ('integer', 'real') THEN given.value BETWEEN 1 AND wanted.new_value - 1
                              ELSE false
                            END)
)
UPDATE ff_budget_usage AS used SET current_value = wanted.new_value, updated_at_ms = :now_ms FROM wanted
 WHERE used.partition_key = :partition_key AND used.budget_id = :budget_id
   AND used.dimensions_key = wanted.dimensions_key AND (SELECT within.found FROM within) = :dimension_count;

-- Counts usage against a budget unless that exceeds a hard limit, and says which limit was exceeded: the first by
-- name. `deltas` is an object of what is added per dimension. `Missing`: a dimension has no counter yet;
-- `Unreadable`: the policy is no object; then nothing is written.
-- name: budget_report :one
-- param: deltas json
-- column: kind text, dimension text, current_usage i64, limit_value i64
-- diverges(tables#9c58ce, where.policy_json#706517): text on SQLite can be no JSON at all; jsonb always is.
-- diverges(columns.limit_value#a9470b): a limit beyond 64 bits is the greatest number in both; SQLite's cast alone does that.
-- diverges(tables#8e0b67, where.type#ad1e4d, where.value#02bc22): SQLite's list of members says which value is an object or an integer; on Postgres its type and its digits do.
-- diverges(order#c06f11): names are compared as bytes in both, which Postgres must be told.
-- returns
WITH asked AS (
  SELECT CAST(given.key AS text) AS dimension, CAST(given.value AS integer) AS delta FROM json_each(:deltas) AS given
),
held AS (
  SELECT used.dimensions_key, used.current_value FROM ff_budget_usage AS used
   WHERE used.partition_key = :partition_key AND used.budget_id = :budget_id
     AND used.dimensions_key IN (SELECT asked.dimension FROM asked)
   ORDER BY used.dimensions_key
),
limits AS (
  SELECT CAST(of_kind.key AS text) AS kind, CAST(given.key AS text) AS dimension,
         CAST(given.value AS integer) AS limit_value
    FROM ff_budget_policy AS policy
   CROSS JOIN json_each(CASE
                          WHEN NOT json_valid(policy.policy_json) THEN '{}'
                          WHEN json_type(policy.policy_json) = 'object' THEN policy.policy_json
                          ELSE '{}'
                        END) AS of_kind
   CROSS JOIN json_each(CASE of_kind.type WHEN 'object' THEN of_kind.value ELSE '{}' END) AS given
   WHERE policy.partition_key = :partition_key AND policy.budget_id = :budget_id
     AND of_kind.key IN ('hard_limits', 'soft_limits') AND given.type = 'integer' AND given.value > 0
),
unreadable AS (
  SELECT 1 AS found FROM ff_budget_policy AS policy
   WHERE policy.partition_key = :partition_key AND policy.budget_id = :budget_id
     AND CASE WHEN json_valid(policy.policy_json) THEN json_type(policy.policy_json) <> 'object' ELSE true END
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
   ORDER BY verdict.rank, verdict.dimension LIMIT 1
);
SELECT answer.kind, answer.dimension, answer.current_usage, answer.limit_value FROM answer;
UPDATE ff_budget_policy AS policy
   SET breach_count = policy.breach_count + CASE WHEN answer.kind = 'HardBreach' THEN 1 ELSE 0 END,
       soft_breach_count = policy.soft_breach_count + CASE WHEN answer.kind = 'SoftBreach' THEN 1 ELSE 0 END,
       last_breach_at_ms = CASE WHEN answer.kind = 'HardBreach' THEN :now_ms ELSE policy.last_breach_at_ms END,
       last_breach_dim = CASE WHEN answer.kind = 'HardBreach' THEN answer.dimension ELSE policy.last_breach_dim END
  FROM answer
 WHERE policy.partition_key = :partition_key AND policy.budget_id = :budget_id
   AND answer.kind IN ('HardBreach', 'SoftBreach');
UPDATE ff_budget_usage AS used SET current_value = wanted.new_value, updated_at_ms = :now_ms
  FROM wanted CROSS JOIN answer
 WHERE used.partition_key = :partition_key AND used.budget_id = :budget_id AND used.dimensions_key = wanted.dimension
   AND answer.kind IN ('SoftBreach', 'Ok');

-- Creates a budget; one that is there stays as it is.
-- name: budget_create :rows
-- both
-- param: policy_json json, next_reset_at_ms i64 null
INSERT INTO ff_budget_policy
       (partition_key, budget_id, policy_json, created_at_ms, updated_at_ms, scope_type, scope_id, enforcement_mode,
        next_reset_at_ms)
VALUES (:partition_key, :budget_id, :policy_json, :now_ms, :now_ms, :scope_type, :scope_id, :enforcement_mode,
        :next_reset_at_ms)
    ON CONFLICT (partition_key, budget_id) DO NOTHING;

-- Reads a budget's policy as text, which foreign writers may have left unreadable, and what happened to it.
-- name: budget_policy_read :opt
-- column: policy_json text
SELECT policy.policy_json, policy.scope_type, policy.scope_id, policy.enforcement_mode, policy.breach_count,
       policy.soft_breach_count, policy.last_breach_at_ms, policy.last_breach_dim, policy.next_reset_at_ms,
       policy.created_at_ms
  FROM ff_budget_policy AS policy
 WHERE policy.partition_key = :partition_key AND policy.budget_id = :budget_id;

-- Lists a budget's counters.
-- name: budget_usage_list :many
SELECT used.dimensions_key, used.current_value FROM ff_budget_usage AS used
 WHERE used.partition_key = :partition_key AND used.budget_id = :budget_id
 ORDER BY used.dimensions_key;

-- Gives every dimension that is asked for a counter, in the order in which reports lock them.
-- name: budget_usage_ensure :exec
-- param: dimensions text[]
INSERT INTO ff_budget_usage (partition_key, budget_id, dimensions_key, current_value, updated_at_ms)
SELECT :partition_key, :budget_id, wanted.value, 0, :now_ms FROM json_each(:dimensions) AS wanted
 WHERE true
 ORDER BY wanted.value
    ON CONFLICT (partition_key, budget_id, dimensions_key) DO NOTHING;

-- Locks a budget's counters, in the order in which every report locks them.
-- name: budget_usage_lock :many
SELECT used.dimensions_key FROM ff_budget_usage AS used
 WHERE used.partition_key = :partition_key AND used.budget_id = :budget_id
 ORDER BY used.dimensions_key;

-- Locks a budget's policy, after its counters, and reads what decides about its next reset.
-- name: budget_policy_lock :opt
-- column: policy_json text
SELECT policy.policy_json, policy.next_reset_at_ms FROM ff_budget_policy AS policy
 WHERE policy.partition_key = :partition_key AND policy.budget_id = :budget_id;

-- Keeps a budget, its counters and its policy, until the transaction ends, as far as nobody else holds it. Counts what is
-- kept and what there is: where less is kept, somebody holds the rest.
-- name: budget_try_lock :one
-- column: kept_count i64, there_count i64
WITH usage AS (
  SELECT held.budget_id FROM ff_budget_usage AS held
   WHERE held.partition_key = :partition_key AND held.budget_id = :budget_id
),
policy AS (
  SELECT held.budget_id FROM ff_budget_policy AS held
   WHERE held.partition_key = :partition_key AND held.budget_id = :budget_id
)
SELECT (SELECT count(*) FROM usage) + (SELECT count(*) FROM policy) AS kept_count,
       (SELECT count(*) FROM ff_budget_usage AS held
         WHERE held.partition_key = :partition_key AND held.budget_id = :budget_id)
       + (SELECT count(*) FROM ff_budget_policy AS held
           WHERE held.partition_key = :partition_key AND held.budget_id = :budget_id) AS there_count;

-- Sets a budget's counters back to zero.
-- name: budget_usage_reset :exec
-- both
UPDATE ff_budget_usage SET current_value = 0, last_reset_at_ms = :now_ms, updated_at_ms = :now_ms
 WHERE partition_key = :partition_key AND budget_id = :budget_id;

-- Forgets a budget's last breach and says when it is reset next; the counts of breaches stay.
-- name: budget_policy_reset :exec
-- both
-- param: next_reset_at_ms i64 null
UPDATE ff_budget_policy
   SET last_breach_at_ms = NULL, last_breach_dim = NULL, next_reset_at_ms = :next_reset_at_ms, updated_at_ms = :now_ms
 WHERE partition_key = :partition_key AND budget_id = :budget_id;

-- Takes a key for a report that is being made; no row is added when the key was used before.
-- name: budget_dedup_claim :rows
-- both
-- param: outcome_json json
INSERT INTO ff_budget_usage_dedup (partition_key, dedup_key, outcome_json, applied_at_ms, expires_at_ms)
VALUES (:partition_key, :dedup_key, :outcome_json, :now_ms, :expires_at_ms)
    ON CONFLICT (partition_key, dedup_key) DO NOTHING;

-- Reads the answer that a report with this key got, as text, which foreign writers may have left unreadable.
-- name: budget_dedup_read :opt
-- column: outcome_json text
SELECT known.outcome_json FROM ff_budget_usage_dedup AS known
 WHERE known.partition_key = :partition_key AND known.dedup_key = :dedup_key;

-- Keeps the answer that a report with this key got.
-- name: budget_dedup_finish :exec
-- both
-- allow(lock-order): the key is the row that this transaction has put in.
-- param: outcome_json json
UPDATE ff_budget_usage_dedup SET outcome_json = :outcome_json
 WHERE partition_key = :partition_key AND dedup_key = :dedup_key;

-- Adds what an execution spent to what it can give back, in the order in which reports lock the counters.
-- name: budget_ledger_add :exec
-- param: deltas json, execution_text text
INSERT INTO ff_budget_usage_by_exec AS spent
       (partition_key, budget_id, execution_id, dimensions_key, delta_total, updated_at_ms)
SELECT :partition_key, :budget_id, :execution_text, CAST(given.key AS text), CAST(given.value AS integer), :now_ms
  FROM json_each(:deltas) AS given
 WHERE true
 ORDER BY given.key
    ON CONFLICT (partition_key, budget_id, execution_id, dimensions_key) DO UPDATE
   SET delta_total = CASE
                       WHEN spent.delta_total > 9223372036854775807 - excluded.delta_total THEN 9223372036854775807
                       ELSE spent.delta_total + excluded.delta_total
                     END,
       updated_at_ms = excluded.updated_at_ms;

-- Gives back what an execution spent; no counter falls below zero.
-- name: budget_ledger_release :exec
-- param: execution_text text
UPDATE ff_budget_usage AS used
   SET current_value = max(used.current_value - gone.delta_total, 0), updated_at_ms = :now_ms
  FROM ff_budget_usage_by_exec AS gone
 WHERE used.partition_key = :partition_key AND used.budget_id = :budget_id AND used.dimensions_key = gone.dimensions_key
   AND gone.partition_key = :partition_key AND gone.budget_id = :budget_id AND gone.execution_id = :execution_text;
DELETE FROM ff_budget_usage_by_exec
 WHERE partition_key = :partition_key AND budget_id = :budget_id AND execution_id = :execution_text;

-- Lists budgets whose time for a reset has come, the longest overdue first.
-- name: budget_reset_due :many
SELECT policy.budget_id FROM ff_budget_policy AS policy
 WHERE policy.partition_key = :partition_key AND policy.next_reset_at_ms <= :now_ms
 ORDER BY policy.next_reset_at_ms, policy.budget_id LIMIT :page_size;

-- Lists a partition's budgets in the order of their ids, strictly after a cursor.
-- name: budget_policy_list :many
-- column: policy_json text
SELECT policy.budget_id, policy.policy_json, policy.last_breach_at_ms FROM ff_budget_policy AS policy
 WHERE policy.partition_key = :partition_key AND policy.budget_id > :after
 ORDER BY policy.budget_id LIMIT :page_size;

-- Notes a breach that nobody reported.
-- name: budget_breach_note :rows
-- both
UPDATE ff_budget_policy SET last_breach_at_ms = :now_ms, last_breach_dim = :dimension, updated_at_ms = :now_ms
 WHERE partition_key = :partition_key AND budget_id = :budget_id AND last_breach_at_ms IS NULL;

-- Gives a budget a policy, whatever it had: for tests and tools that write policies of their own.
-- name: budget_policy_put :exec
-- both
-- param: policy_json json
INSERT INTO ff_budget_policy (partition_key, budget_id, policy_json, created_at_ms, updated_at_ms)
VALUES (:partition_key, :budget_id, :policy_json, :now_ms, :now_ms)
    ON CONFLICT (partition_key, budget_id) DO UPDATE
   SET policy_json = excluded.policy_json, updated_at_ms = excluded.updated_at_ms;
