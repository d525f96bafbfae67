-- name: reading_put :rows
INSERT INTO reading AS r (meter_id, taken_at, litres, source) VALUES (:meter, :at, :litres, :source)
ON CONFLICT (meter_id, taken_at) DO UPDATE SET litres = EXCLUDED.litres, source = EXCLUDED.source
 WHERE r.litres <> EXCLUDED.litres OR r.source <> EXCLUDED.source;

-- name: reading_days :many
SELECT (taken_at AT TIME ZONE 'UTC')::date AS day, max(litres) - min(litres) AS litres FROM reading WHERE meter_id = :meter GROUP BY 1 ORDER BY 1;

-- name: reading_mean :many
SELECT meter_id, round(avg(litres))::bigint AS litres FROM reading GROUP BY meter_id ORDER BY meter_id;

-- name: reading_cubic :many
SELECT taken_at, round(litres / 1000.0)::bigint AS cubic FROM reading WHERE meter_id = :meter ORDER BY taken_at;

-- name: reading_guesses :rows
DELETE FROM reading WHERE meter_id = :meter AND taken_at < :before OR source = 'guess';

-- name: reading_months :many
SELECT to_char(taken_at AT TIME ZONE 'Europe/Berlin', 'YYYY-MM') AS month, count(*) AS n FROM reading WHERE meter_id = :meter GROUP BY 1 ORDER BY 1;
