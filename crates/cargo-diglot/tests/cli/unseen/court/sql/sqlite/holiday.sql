-- name: holiday_copy :exec
-- param: from_day date
INSERT INTO holiday (court_id, day, label)
SELECT court_id, date(day, '+364 days'), label FROM holiday WHERE court_id = :court AND day >= :from_day AND day < '2190-01-01'
ON CONFLICT (court_id, day) DO NOTHING;

-- name: holiday_workdays :one
-- param: from_day date, to_day date
WITH RECURSIVE d (day) AS (
  SELECT :from_day WHERE :from_day <= :to_day
  UNION ALL
  SELECT date(day, '+1 day') FROM d WHERE day < :to_day
)
SELECT count(*) AS n FROM d
 WHERE strftime('%w', day) BETWEEN '1' AND '5'
   AND day NOT IN (SELECT h.day FROM holiday h WHERE h.court_id = :court);

-- name: holiday_week :many
-- param: day date
SELECT day, label FROM holiday WHERE court_id = :court
   AND day >= date(:day, 'weekday 1', '-7 days') AND day < date(:day, 'weekday 1') ORDER BY day;
