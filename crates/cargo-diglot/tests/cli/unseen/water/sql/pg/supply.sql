-- name: supply_end :opt
UPDATE supply SET ends_on = :day WHERE meter_id = :meter AND ends_on IS NULL AND NOT begins_on > :day RETURNING account_id;

-- name: supply_on :many
-- param: day date
SELECT account_id, meter_id FROM supply WHERE daterange(begins_on, ends_on) @> :day::date ORDER BY account_id, meter_id, begins_on;

-- name: supply_gaps :many
SELECT meter_id, begins_on FROM (
  SELECT meter_id, begins_on, lag(ends_on) OVER (PARTITION BY meter_id ORDER BY begins_on, account_id) AS before FROM supply
) t WHERE begins_on - before >= 1 ORDER BY meter_id, begins_on;
