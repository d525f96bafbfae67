-- name: flag_queue :many
-- param: least i64
SELECT q.post_id, q.n, q.since FROM (SELECT f.post_id, count(f.id) AS n, min(f.raised_at) AS since FROM flag f WHERE
  f.state = 'new' GROUP BY f.post_id) q WHERE q.n >= :least ORDER BY q.n DESC, q.since, q.post_id;

-- name: flag_next :opt
WITH next AS (SELECT id FROM flag WHERE state = 'new' ORDER BY raised_at, id LIMIT 1 FOR UPDATE SKIP LOCKED) UPDATE
  flag f SET state = :state, handled_by = :member, handled_at = :now FROM next WHERE f.id = next.id RETURNING f.id,
  f.post_id;

-- name: flag_reasons :many
SELECT post_id, string_agg(DISTINCT reason, ',' ORDER BY reason) AS reasons FROM flag GROUP BY post_id ORDER BY
  post_id;

-- name: flag_raise :rows
-- param: note text null
INSERT INTO flag (id, post_id, member_id, reason, note, raised_at) VALUES (:id, :post, :member, :reason,
  NULLIF(btrim(:note), ''), :now) ON CONFLICT (post_id, member_id) WHERE state = 'new' DO NOTHING;

-- name: flag_totals :many
SELECT reason, count(*) AS waiting FROM flag GROUP BY reason ORDER BY reason;

-- name: flag_hours :many
SELECT id, (extract(epoch FROM handled_at - raised_at) / 3600)::bigint AS hours FROM flag WHERE handled_at >=
  raised_at ORDER BY id;

-- name: flag_people :many
SELECT post_id, count(member_id) AS n FROM flag GROUP BY post_id ORDER BY post_id;

-- name: flag_texts :many
SELECT id, concat_ws(': ', reason, note) AS text FROM flag ORDER BY id;
