-- name: holiday_copy :exec
-- param: from_day date
INSERT INTO holiday (court_id, day, label)
SELECT court_id, day + 364, label FROM holiday WHERE court_id = :court AND day >= :from_day AND day < '2190-01-01'
ON CONFLICT (court_id, day) DO NOTHING;

-- name: holiday_workdays :one
-- param: from_day date, to_day date
SELECT count(*) AS n
  FROM generate_series(:from_day::date, :to_day::date, interval '1 day') AS d (day)
  LEFT JOIN holiday h ON h.court_id = :court AND h.day = d.day::date
 WHERE extract(isodow FROM d.day) < 6 AND h.day IS NULL;

-- name: holiday_week :many
-- param: day date
SELECT day, label FROM holiday WHERE court_id = :court
   AND day >= date_trunc('week', :day::date) AND day < date_trunc('week', :day::date) + interval '7 days' ORDER BY day;
