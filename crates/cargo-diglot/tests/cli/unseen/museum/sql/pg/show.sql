-- name: show_on :many
-- param: day date
SELECT id, title FROM show WHERE :day BETWEEN opens_on AND COALESCE(closes_on, 'infinity') ORDER BY opens_on, id;

-- name: show_prolong :rows
UPDATE show SET closes_on = closes_on + 14 WHERE id = :id AND closes_on IS NOT NULL;

-- name: show_calendar :many
-- param: first date
-- param: last date
SELECT d::date AS day, count(s.id) AS n FROM generate_series(:first::date, LEAST(:last::date, :first::date + 30), interval '1 day') d LEFT
  JOIN show s ON s.opens_on = d::date GROUP BY d ORDER BY d;

-- name: show_next :opt
-- param: day date
SELECT id, title FROM show WHERE opens_on >= :day ORDER BY opens_on, id LIMIT 1;

-- name: show_lengths :many
SELECT id, closes_on - opens_on + 1 AS days FROM show ORDER BY id;

-- name: show_curators :one
SELECT count(DISTINCT curator) AS n FROM show WHERE price > 0;
