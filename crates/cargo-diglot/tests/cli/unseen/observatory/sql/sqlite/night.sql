-- name: night_log :one
-- param: day date, cloud i64 null, seeing f64 null
INSERT INTO night (telescope_id, night_on, cloud, seeing) VALUES (:telescope, :day, :cloud, :seeing)
ON CONFLICT (telescope_id, night_on) DO UPDATE
   SET cloud = ifnull(excluded.cloud, cloud), seeing = ifnull(excluded.seeing, seeing)
RETURNING cloud, seeing;

-- name: night_streaks :many
SELECT telescope_id, min(night_on) AS first_on, count(*) AS nights FROM (
  SELECT telescope_id, night_on,
         date(night_on, '-' || row_number() OVER (PARTITION BY telescope_id ORDER BY night_on) || ' days') AS island
    FROM night WHERE cloud < 30
) GROUP BY telescope_id, island ORDER BY telescope_id, first_on;

-- name: night_calendar :many
-- param: from_day date, to_day date
WITH RECURSIVE d (day) AS (
  SELECT :from_day WHERE :from_day <= :to_day
  UNION ALL
  SELECT date(day, '+1 day') FROM d WHERE day < :to_day
)
SELECT d.day, n.cloud FROM d LEFT JOIN night n ON n.night_on = d.day AND n.telescope_id = :telescope ORDER BY d.day;

-- name: night_missing :many
-- param: from_day date, to_day date
WITH RECURSIVE d (day) AS (
  SELECT :from_day WHERE :from_day < :to_day
  UNION ALL
  SELECT date(day, '+1 day') FROM d WHERE date(day, '+1 day') < :to_day
)
SELECT d.day FROM d WHERE d.day NOT IN (SELECT night_on FROM night WHERE telescope_id = :telescope) ORDER BY d.day;
