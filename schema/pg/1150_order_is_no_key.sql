-- The order of a lane finds no row by its key.
--
-- An index also serves to find rows by its last column, read from one end to the other. The planner takes it for as good as the
-- primary key while it knows of no row in the table, as after a vacuum that found all rows dead and could not clear any of
-- them away, and the trigger that takes an execution out of the queue would read all of them for each. A partial index
-- serves only a statement whose conditions imply its own, and whoever reads a lane names it.
DROP INDEX IF EXISTS ff_claimable_order_idx;

CREATE INDEX IF NOT EXISTS ff_claimable_order_idx
    ON ff_claimable (lane_id, priority DESC, created_at_ms, execution_id)
    WHERE lane_id IS NOT NULL;
