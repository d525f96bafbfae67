-- What a claim may take, over all partitions, in the order in which it is taken.
--
-- The predicate of a view and of its index must stay word for word the same, or
-- SQLite no longer uses the index for the view.

CREATE VIEW ff_claimable AS
SELECT partition_key, execution_id, lane_id, priority, created_at_ms, attempt_index
FROM ff_exec_core
WHERE lifecycle_phase IN ('submitted', 'runnable')
  AND eligibility_state = 'eligible_now'
  AND ownership_state = 'unowned';

CREATE INDEX ff_exec_core_claimable_idx
    ON ff_exec_core (lane_id, priority DESC, created_at_ms, execution_id)
    WHERE lifecycle_phase IN ('submitted', 'runnable')
      AND eligibility_state = 'eligible_now'
      AND ownership_state = 'unowned';

-- What becomes claimable once its time has come.
--
-- Retries with a backoff that an older backend scheduled kept their time in
-- raw_fields only, where nothing looked for it.
UPDATE ff_exec_core
SET deadline_at_ms = CAST(json_extract(raw_fields, '$.delay_until') AS INTEGER)
WHERE lifecycle_phase IN ('submitted', 'runnable')
  AND eligibility_state = 'not_eligible_until_time'
  AND deadline_at_ms IS NULL
  AND CASE WHEN json_valid(raw_fields) THEN json_extract(raw_fields, '$.delay_until') END GLOB '[0-9]*';

CREATE VIEW ff_delayed AS
SELECT partition_key, execution_id, lane_id, deadline_at_ms AS due_at_ms
FROM ff_exec_core
WHERE lifecycle_phase IN ('submitted', 'runnable')
  AND eligibility_state = 'not_eligible_until_time'
  AND deadline_at_ms IS NOT NULL;

CREATE INDEX ff_exec_core_delayed_idx
    ON ff_exec_core (deadline_at_ms)
    WHERE lifecycle_phase IN ('submitted', 'runnable')
      AND eligibility_state = 'not_eligible_until_time'
      AND deadline_at_ms IS NOT NULL;
