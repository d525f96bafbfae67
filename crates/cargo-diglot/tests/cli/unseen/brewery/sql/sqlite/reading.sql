-- name: reading_latest :many
SELECT batch_id, gravity FROM (
  SELECT batch_id, gravity, row_number() OVER (PARTITION BY batch_id ORDER BY taken_at DESC) AS place FROM reading
) WHERE place = 1 ORDER BY batch_id;

-- name: reading_drop :many
SELECT batch_id, taken_at, first_value(gravity) OVER w - last_value(gravity) OVER w AS fallen FROM reading
WINDOW w AS (PARTITION BY batch_id ORDER BY taken_at) ORDER BY batch_id, taken_at;

-- name: reading_hourly :many
SELECT strftime('%Y-%m-%d %H', taken_at, 'unixepoch') AS hour, min(gravity) AS least FROM reading WHERE batch_id = :batch
 GROUP BY hour ORDER BY hour;

-- name: reading_degrees :many
SELECT taken_at, round(celsius) AS degrees FROM reading WHERE batch_id = :batch AND celsius IS NOT NULL ORDER BY taken_at;

-- name: reading_hot :many
SELECT DISTINCT batch_id FROM reading WHERE celsius > 25 ORDER BY batch_id;

-- name: reading_thin :rows
DELETE FROM reading WHERE EXISTS (
  SELECT 1 FROM reading o WHERE o.batch_id = reading.batch_id AND o.gravity = reading.gravity AND o.taken_at < reading.taken_at);
