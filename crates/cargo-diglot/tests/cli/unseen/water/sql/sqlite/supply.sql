-- name: supply_end :opt
UPDATE supply SET ends_on = :day WHERE meter_id = :meter AND ends_on IS NULL AND begins_on <= :day RETURNING account_id;

-- name: supply_on :many
-- param: day date
SELECT account_id, meter_id FROM supply WHERE begins_on <= :day AND coalesce(ends_on, '9999-12-31') > :day ORDER BY account_id, meter_id, begins_on;

-- name: supply_gaps :many
SELECT meter_id, begins_on FROM (
  SELECT meter_id, begins_on, lag(ends_on) OVER (PARTITION BY meter_id ORDER BY begins_on, account_id) AS before FROM supply
) WHERE julianday(begins_on) - julianday(before) > 1 ORDER BY meter_id, begins_on;
