-- name: pick_daily :many
SELECT date(picked_at, 'unixepoch') AS day, sum(grams) AS grams FROM pick GROUP BY day ORDER BY day;

-- name: pick_running :many
SELECT id, sum(grams) OVER (PARTITION BY tree_id ORDER BY picked_at, id) AS so_far FROM pick ORDER BY id;

-- name: pick_best :many
SELECT tree_id, id, grams FROM (
  SELECT tree_id, id, grams, row_number() OVER (PARTITION BY tree_id ORDER BY grams DESC, id) AS place FROM pick
) WHERE place = 1 ORDER BY tree_id;

-- name: pick_reassign :rows
UPDATE pick SET picker_id = :receiver WHERE picker_id IS :giver;

-- name: pick_hourly :many
SELECT id, CAST(strftime('%H', picked_at, 'unixepoch') AS INTEGER) AS hour FROM pick ORDER BY id;

-- name: pick_total :one
SELECT sum(grams) AS grams FROM pick WHERE picker_id = :picker;

-- name: pick_since :many
-- param: day date
SELECT id FROM pick WHERE picked_at >= unixepoch(:day) ORDER BY id;

-- name: pick_share :many
SELECT id, 100 * spoilt / grams AS share FROM pick WHERE spoilt IS NOT NULL ORDER BY id;
