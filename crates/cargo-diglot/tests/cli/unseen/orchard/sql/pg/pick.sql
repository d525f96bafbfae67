-- name: pick_daily :many
SELECT to_char(picked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, sum(grams)::bigint AS grams FROM pick GROUP BY 1 ORDER BY 1;

-- name: pick_running :many
SELECT p.id, (SELECT sum(q.grams)::bigint FROM pick q
               WHERE q.tree_id = p.tree_id AND (q.picked_at, q.id) <= (p.picked_at, p.id)) AS so_far
  FROM pick p ORDER BY p.id;

-- name: pick_best :many
SELECT DISTINCT ON (tree_id) tree_id, id, grams FROM pick ORDER BY tree_id, grams DESC, id;

-- name: pick_reassign :rows
UPDATE pick SET picker_id = :receiver WHERE picker_id IS NOT DISTINCT FROM :giver;

-- name: pick_hourly :many
SELECT id, to_char(picked_at AT TIME ZONE 'UTC', 'HH12')::bigint AS hour FROM pick ORDER BY id;

-- name: pick_total :one
SELECT COALESCE(sum(grams), 0)::bigint AS grams FROM pick WHERE picker_id = :picker;

-- name: pick_since :many
-- param: day date
SELECT id FROM pick WHERE picked_at > (:day::date)::timestamp AT TIME ZONE 'UTC' ORDER BY id;

-- name: pick_share :many
SELECT id, round(100.0 * spoilt / grams)::bigint AS share FROM pick WHERE spoilt IS NOT NULL ORDER BY id;
