-- name: flag_queue :many
-- param: least i64
SELECT post_id, count(*) AS n, min(raised_at) AS since FROM flag WHERE state = 'new' GROUP BY post_id HAVING count(*)
  >= :least ORDER BY n DESC, since, post_id;

-- name: flag_next :opt
UPDATE flag SET state = :state, handled_by = :member, handled_at = :now WHERE id = (SELECT id FROM flag WHERE state =
  'new' ORDER BY raised_at, id LIMIT 1) RETURNING id, post_id;

-- name: flag_reasons :many
SELECT post_id, group_concat(reason, ',') AS reasons FROM (SELECT DISTINCT post_id, reason FROM flag ORDER BY post_id,
  reason) GROUP BY post_id ORDER BY post_id;

-- name: flag_raise :rows
-- param: note text null
INSERT INTO flag (id, post_id, member_id, reason, note, raised_at) VALUES (:id, :post, :member, :reason,
  nullif(trim(:note), ''), :now) ON CONFLICT (post_id, member_id) WHERE state = 'new' DO NOTHING;

-- name: flag_totals :many
SELECT reason, count(*) FILTER (WHERE state = 'new') AS waiting FROM flag GROUP BY reason ORDER BY reason;

-- name: flag_hours :many
SELECT id, (unixepoch(handled_at) - unixepoch(raised_at)) / 3600 AS hours FROM flag WHERE handled_at >= raised_at
  ORDER BY id;

-- name: flag_people :many
SELECT post_id, count(DISTINCT member_id) AS n FROM flag GROUP BY post_id ORDER BY post_id;

-- name: flag_texts :many
SELECT id, reason || ': ' || note AS text FROM flag ORDER BY id;
