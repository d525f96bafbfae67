-- name: reading_put :rows
INSERT INTO reading (meter_id, taken_at, litres, source) VALUES (:meter, :at, :litres, :source)
ON CONFLICT (meter_id, taken_at) DO UPDATE SET litres = excluded.litres, source = excluded.source
 WHERE (reading.litres, reading.source) IS NOT (excluded.litres, excluded.source);

-- name: reading_days :many
SELECT date(taken_at, 'unixepoch') AS day, max(litres) - min(litres) AS litres FROM reading WHERE meter_id = :meter GROUP BY day ORDER BY day;

-- name: reading_mean :many
SELECT meter_id, sum(litres) / count(*) AS litres FROM reading GROUP BY meter_id ORDER BY meter_id;

-- name: reading_cubic :many
SELECT taken_at, cubic FROM reading WHERE meter_id = :meter ORDER BY taken_at;

-- name: reading_guesses :rows
DELETE FROM reading WHERE meter_id = :meter AND taken_at < :before AND source = 'guess';

-- name: reading_months :many
SELECT strftime('%Y-%m', taken_at, 'unixepoch') AS month, count(*) AS n FROM reading WHERE meter_id = :meter GROUP BY month ORDER BY month;
