-- Where what a worker may claim begins.
--
-- A claim takes the first execution of a lane that needs no capability which the worker lacks. What needs others stays in
-- the lane, and each claim would read past all of it. A mark says for a lane and a set of capabilities that nothing before
-- its place may be claimed; one that was never moved stands before everything. Whoever sets `made_at_ms` moves it forward,
-- and whatever enters the queue before the place of a mark moves it back.

CREATE TABLE ff_claim_mark (
    mark_key       TEXT    NOT NULL PRIMARY KEY,
    lane_id        TEXT    NOT NULL,
    capabilities   TEXT    NOT NULL
        CONSTRAINT ff_claim_mark_capabilities_is_a_list CHECK (json_valid(capabilities) AND json_type(capabilities) = 'array'),
    made_at_ms     INTEGER NOT NULL,
    priority       INTEGER NOT NULL DEFAULT 2147483647,
    created_at_ms  INTEGER NOT NULL DEFAULT -9000000000000000000,
    execution_id   BLOB
) STRICT, WITHOUT ROWID;

CREATE INDEX ff_claim_mark_lane_idx ON ff_claim_mark (lane_id);

-- The execution that is claimed next by whoever asks with the lane and the capabilities of a mark.
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
       ORDER BY below.priority DESC, below.created_at_ms, below.execution_id
       LIMIT 1));

-- allow(trigger-writes-own-table): nobody asks what was written, and it does not set the time by which it is called.
CREATE TRIGGER ff_claim_mark_place_trg
AFTER UPDATE OF made_at_ms ON ff_claim_mark
BEGIN
    UPDATE ff_claim_mark
    SET (priority, created_at_ms, execution_id) =
        (SELECT COALESCE(core.priority, -2147483648), COALESCE(core.created_at_ms, 9000000000000000000), core.execution_id
         FROM (SELECT 1 AS one) AS single
         LEFT JOIN ff_claim_next AS next ON next.mark_key = NEW.mark_key
         LEFT JOIN ff_exec_core AS core
           ON core.partition_key = next.partition_key AND core.execution_id = next.execution_id)
    WHERE mark_key = NEW.mark_key;
END;

CREATE TRIGGER ff_exec_core_mark_insert_trg
AFTER INSERT ON ff_exec_core
WHEN NEW.lifecycle_phase IN ('submitted', 'runnable')
     AND NEW.eligibility_state = 'eligible_now'
     AND NEW.ownership_state = 'unowned'
BEGIN
    UPDATE ff_claim_mark
    SET priority = NEW.priority, created_at_ms = NEW.created_at_ms, execution_id = NEW.execution_id
    WHERE lane_id = NEW.lane_id
      AND (priority < NEW.priority
           OR (priority = NEW.priority
               AND (created_at_ms, execution_id) > (NEW.created_at_ms, NEW.execution_id)));
END;

CREATE TRIGGER ff_exec_core_mark_update_trg
AFTER UPDATE OF lifecycle_phase, eligibility_state, ownership_state, lane_id, priority, created_at_ms ON ff_exec_core
WHEN NEW.lifecycle_phase IN ('submitted', 'runnable')
     AND NEW.eligibility_state = 'eligible_now'
     AND NEW.ownership_state = 'unowned'
BEGIN
    UPDATE ff_claim_mark
    SET priority = NEW.priority, created_at_ms = NEW.created_at_ms, execution_id = NEW.execution_id
    WHERE lane_id = NEW.lane_id
      AND (priority < NEW.priority
           OR (priority = NEW.priority
               AND (created_at_ms, execution_id) > (NEW.created_at_ms, NEW.execution_id)));
END;

-- An execution that needs less than before may have been passed over.
CREATE TRIGGER ff_execution_capabilities_mark_delete_trg
AFTER DELETE ON ff_execution_capabilities
BEGIN
    UPDATE ff_claim_mark SET priority = 2147483647, created_at_ms = -9000000000000000000, execution_id = NULL;
END;

CREATE TRIGGER ff_execution_capabilities_mark_update_trg
AFTER UPDATE ON ff_execution_capabilities
BEGIN
    UPDATE ff_claim_mark SET priority = 2147483647, created_at_ms = -9000000000000000000, execution_id = NULL;
END;
