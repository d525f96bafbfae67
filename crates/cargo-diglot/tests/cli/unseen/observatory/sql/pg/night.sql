-- name: night_log :one
-- param: day date, cloud i64 null, seeing f64 null
INSERT INTO night (telescope_id, night_on, cloud, seeing) VALUES (:telescope, :day, :cloud, :seeing)
ON CONFLICT (telescope_id, night_on) DO UPDATE
   SET cloud = COALESCE(EXCLUDED.cloud, night.cloud), seeing = COALESCE(EXCLUDED.seeing, night.seeing)
RETURNING cloud, seeing;

-- name: night_streaks :many
SELECT telescope_id, min(night_on) AS first_on, count(*) AS nights FROM (
  SELECT telescope_id, night_on,
         night_on - (row_number() OVER (PARTITION BY telescope_id ORDER BY night_on))::int AS island
    FROM night WHERE cloud < 30
) AS n GROUP BY telescope_id, island ORDER BY telescope_id, first_on;

-- name: night_calendar :many
-- param: from_day date, to_day date
SELECT d.day::date AS day, n.cloud
  FROM generate_series(:from_day::date, :to_day::date, interval '1 day') AS d (day)
  LEFT JOIN night n ON n.night_on = d.day::date AND n.telescope_id = :telescope
 ORDER BY 1;

-- name: night_missing :many
-- param: from_day date, to_day date
SELECT d.day::date AS day FROM generate_series(:from_day::date, :to_day::date, interval '1 day') AS d (day)
 WHERE d.day::date NOT IN (SELECT night_on FROM night WHERE telescope_id = :telescope) ORDER BY 1;
