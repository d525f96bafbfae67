-- name: reading_latest :many
SELECT DISTINCT ON (batch_id) batch_id, gravity FROM reading ORDER BY batch_id, taken_at DESC;

-- name: reading_drop :many
SELECT batch_id, taken_at, first_value(gravity) OVER w - last_value(gravity) OVER w AS fallen FROM reading
WINDOW w AS (PARTITION BY batch_id ORDER BY taken_at ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
 ORDER BY batch_id, taken_at;

-- name: reading_hourly :many
SELECT to_char(taken_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24') AS hour, min(gravity) AS least FROM reading WHERE batch_id = :batch
 GROUP BY 1 ORDER BY 1;

-- name: reading_degrees :many
SELECT taken_at, round(celsius) AS degrees FROM reading WHERE batch_id = :batch AND celsius IS NOT NULL ORDER BY taken_at;

-- name: reading_hot :many
SELECT batch_id FROM reading GROUP BY batch_id HAVING max(celsius) > 25 ORDER BY batch_id;

-- name: reading_thin :rows
WITH kept AS (SELECT batch_id, gravity, min(taken_at) AS first FROM reading GROUP BY batch_id, gravity)
DELETE FROM reading r USING kept k WHERE k.batch_id = r.batch_id AND k.gravity = r.gravity AND r.taken_at > k.first;
