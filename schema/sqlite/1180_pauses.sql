-- What an operator holds back: a lane gives out no claim while it has a row here, and neither do the members of a flow.
--
-- A claim passes the members of a paused flow over, as what requires a capability that no worker has; so marks move past
-- them too, and stand before everything again when a flow goes on.

CREATE TABLE ff_lane_pause (
    lane_id       TEXT    NOT NULL PRIMARY KEY,
    paused_at_ms  INTEGER NOT NULL,
    reason        TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ff_flow_pause (
    partition_key  INTEGER NOT NULL,
    flow_id        BLOB    NOT NULL,
    paused_at_ms   INTEGER NOT NULL,
    reason         TEXT    NOT NULL,
    PRIMARY KEY (partition_key, flow_id)
) STRICT, WITHOUT ROWID;

DROP VIEW ff_claimable;

CREATE VIEW ff_claimable AS
SELECT partition_key, execution_id, lane_id, priority, created_at_ms, attempt_index
FROM ff_exec_core AS core
WHERE lifecycle_phase IN ('submitted', 'runnable')
  AND eligibility_state = 'eligible_now'
  AND ownership_state = 'unowned'
  AND (core.flow_id IS NULL
       OR NOT EXISTS (SELECT 1 FROM ff_flow_pause AS pause
                      WHERE pause.partition_key = core.partition_key AND pause.flow_id = core.flow_id));

DROP VIEW ff_claim_next;

CREATE VIEW ff_claim_next AS
SELECT mark.mark_key, mark.lane_id, core.partition_key, core.execution_id, core.attempt_index
FROM ff_claim_mark AS mark
JOIN ff_exec_core AS core
  ON core.rowid = COALESCE(
      (SELECT near.rowid
       FROM ff_exec_core AS near
       WHERE near.lifecycle_phase IN ('submitted', 'runnable')
         AND near.eligibility_state = 'eligible_now'
         AND near.ownership_state = 'unowned'
         AND near.lane_id = mark.lane_id
         AND near.priority = mark.priority
         AND (near.created_at_ms, near.execution_id) >= (mark.created_at_ms, mark.execution_id)
         AND NOT EXISTS (SELECT 1
                         FROM ff_execution_capabilities AS required
                         WHERE required.execution_id = near.execution_id
                           AND required.capability NOT IN (SELECT value FROM json_each(mark.capabilities)))
         AND (near.flow_id IS NULL
              OR NOT EXISTS (SELECT 1 FROM ff_flow_pause AS pause
                             WHERE pause.partition_key = near.partition_key AND pause.flow_id = near.flow_id))
       ORDER BY near.created_at_ms, near.execution_id
       LIMIT 1),
      (SELECT below.rowid
       FROM ff_exec_core AS below
       WHERE below.lifecycle_phase IN ('submitted', 'runnable')
         AND below.eligibility_state = 'eligible_now'
         AND below.ownership_state = 'unowned'
         AND below.lane_id = mark.lane_id
         AND below.priority < mark.priority
         AND NOT EXISTS (SELECT 1
                         FROM ff_execution_capabilities AS required
                         WHERE required.execution_id = below.execution_id
                           AND required.capability NOT IN (SELECT value FROM json_each(mark.capabilities)))
         AND (below.flow_id IS NULL
              OR NOT EXISTS (SELECT 1 FROM ff_flow_pause AS pause
                             WHERE pause.partition_key = below.partition_key AND pause.flow_id = below.flow_id))
       ORDER BY below.priority DESC, below.created_at_ms, below.execution_id
       LIMIT 1));

CREATE TRIGGER ff_flow_pause_mark_delete_trg
AFTER DELETE ON ff_flow_pause
BEGIN
    UPDATE ff_claim_mark SET priority = 2147483647, created_at_ms = -9000000000000000000, execution_id = NULL;
END;
