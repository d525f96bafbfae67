-- name: member_moderators :many
-- param: now timestamp
SELECT id, handle FROM member WHERE role = ANY('{mod,admin}') AND deleted IS FALSE AND seen_at + interval '7 days' >=
  :now ORDER BY seen_at DESC, id;

-- name: member_theme :many
SELECT id, COALESCE(settings ->> 'theme', 'light') AS theme FROM member ORDER BY id;

-- name: member_quiet :rows
UPDATE member SET settings = jsonb_set(settings, '{digest}', 'false') WHERE id = :id AND settings -> 'digest' IS
  DISTINCT FROM 'false'::jsonb;

-- name: member_hosts :many
SELECT lower(substring(email FROM position('@' IN email) + 1)) AS host, count(*) AS n FROM member WHERE NOT deleted
  AND email <> '' GROUP BY 1 HAVING count(*) >= 2 ORDER BY 2 DESC, 1;

-- name: member_places :many
SELECT id, dense_rank() OVER (ORDER BY reputation DESC) AS place FROM member WHERE NOT deleted ORDER BY place, id;

-- name: member_page :many
-- param: rep i64
-- param: after i64
SELECT id, handle, reputation FROM member WHERE reputation < :rep OR reputation = :rep AND id < :after ORDER BY
  reputation DESC, id DESC LIMIT 20;

-- name: member_forget :opt
UPDATE member SET (email, deleted, settings, handle) = (NULL, true, '{}', concat('gone-', id)) WHERE id = :id AND NOT
  deleted AND role <> 'admin' RETURNING handle;

-- name: member_days :many
-- param: day date
SELECT id, :day::date - joined_on AS days FROM member WHERE NOT joined_on > :day ORDER BY joined_on, id;

-- name: member_silent :many
-- param: since timestamp
SELECT m.id FROM member m WHERE NOT m.deleted AND NOT EXISTS (SELECT 1 FROM post p WHERE p.author_id = m.id AND
  p.created_at >= :since) ORDER BY m.id;

-- name: member_newest :many
SELECT id, handle FROM member ORDER BY seen_at DESC, id;

-- name: member_share :many
SELECT id, round(100.0 * reputation / (SELECT sum(reputation) FROM member WHERE reputation > 0))::bigint AS percent
  FROM member WHERE reputation > 0 ORDER BY id;

-- name: member_digest :many
SELECT id, email FROM member WHERE settings ->> 'digest' = '1' AND email IS NOT NULL ORDER BY id;

-- name: member_seen :rows
UPDATE member SET seen_at = :now WHERE id = :id AND NOT deleted;

-- name: member_purge :rows
DELETE FROM member WHERE id NOT IN (SELECT author_id FROM post WHERE author_id IS NOT NULL);

-- name: member_asleep :many
-- param: since timestamp
SELECT id FROM member WHERE COALESCE(seen_at, joined_on::timestamp AT TIME ZONE 'UTC') < :since ORDER BY id;
