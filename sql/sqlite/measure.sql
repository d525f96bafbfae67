-- What there is on each lane by its state, and since when the oldest of it is: for whoever watches, now and then.

-- What waits to be claimed.
-- name: measure_waiting_list :many
-- both
-- column: oldest_at_ms i64
SELECT queued.lane_id, count(*) AS depth, min(queued.created_at_ms) AS oldest_at_ms FROM ff_claimable AS queued
 GROUP BY queued.lane_id;

-- What waits for its time; the oldest is what is due first.
-- name: measure_delayed_list :many
-- both
-- column: oldest_at_ms i64
SELECT queued.lane_id, count(*) AS depth, min(queued.due_at_ms) AS oldest_at_ms FROM ff_delayed AS queued
 GROUP BY queued.lane_id;

-- What has a lease; the oldest is whose lease ends first.
-- name: measure_running_list :many
-- both
-- column: oldest_at_ms i64
SELECT core.lane_id, count(*) AS depth, min(held.lease_expires_at_ms) AS oldest_at_ms
  FROM ff_attempt AS held
  JOIN ff_exec_core AS core ON core.partition_key = held.partition_key AND core.execution_id = held.execution_id
 WHERE held.lease_expires_at_ms IS NOT NULL
 GROUP BY core.lane_id;

-- What waits for a budget, a quota or a worker.
-- name: measure_blocked_list :many
-- both
-- column: oldest_at_ms i64
SELECT core.lane_id, count(*) AS depth, min(core.created_at_ms) AS oldest_at_ms
  FROM ff_exec_core AS core
 WHERE core.eligibility_state = 'blocked_by_budget' OR core.eligibility_state = 'blocked_by_quota'
       OR core.eligibility_state = 'blocked_by_route'
 GROUP BY core.lane_id;
