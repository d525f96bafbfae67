-- Counts a flow's members by public state as stored.
-- name: flow_summary_count :many
-- both
SELECT core.public_state, count(*) AS members FROM ff_exec_core AS core
 WHERE core.partition_key = :partition_key AND core.flow_id = :flow_id
 GROUP BY core.public_state;

-- Stores the summary of a flow in place of the last one.
-- name: flow_summary_write :exec
-- both
INSERT INTO ff_flow_summary
       (partition_key, flow_id, total_members, sampled_members, members_completed, members_failed, members_cancelled,
        members_expired, members_skipped, members_active, members_suspended, members_waiting, members_delayed,
        members_rate_limited, members_waiting_children, public_flow_state, last_summary_update_at)
VALUES (:partition_key, :flow_id, :total_members, :sampled_members, :members_completed, :members_failed,
        :members_cancelled, :members_expired, :members_skipped, :members_active, :members_suspended, :members_waiting,
        :members_delayed, :members_rate_limited, :members_waiting_children, :public_flow_state, :now_ms)
    ON CONFLICT (partition_key, flow_id) DO UPDATE
   SET total_members = excluded.total_members, sampled_members = excluded.sampled_members,
       members_completed = excluded.members_completed, members_failed = excluded.members_failed,
       members_cancelled = excluded.members_cancelled, members_expired = excluded.members_expired,
       members_skipped = excluded.members_skipped, members_active = excluded.members_active,
       members_suspended = excluded.members_suspended, members_waiting = excluded.members_waiting,
       members_delayed = excluded.members_delayed, members_rate_limited = excluded.members_rate_limited,
       members_waiting_children = excluded.members_waiting_children, public_flow_state = excluded.public_flow_state,
       last_summary_update_at = excluded.last_summary_update_at;

-- Lists flows with members whose summary may be out of date, the oldest summary first. One that says that all
-- members have ended is taken again after a while only. One without a summary has 0 for its time.
-- name: flow_summary_due_list :many
-- both
SELECT flow.partition_key, flow.flow_id, COALESCE(summary.last_summary_update_at, 0) AS summarized_at_ms
  FROM ff_flow_core AS flow
  LEFT JOIN ff_flow_summary AS summary ON summary.partition_key = flow.partition_key AND summary.flow_id = flow.flow_id
 WHERE (summary.flow_id IS NULL OR summary.public_flow_state NOT IN ('completed', 'failed')
        OR summary.last_summary_update_at < :ended_before_ms)
   AND EXISTS (SELECT 1 FROM ff_exec_core AS core
                WHERE core.partition_key = flow.partition_key AND core.flow_id = flow.flow_id)
 ORDER BY COALESCE(summary.last_summary_update_at, 0), flow.partition_key, flow.flow_id LIMIT :page_size;
