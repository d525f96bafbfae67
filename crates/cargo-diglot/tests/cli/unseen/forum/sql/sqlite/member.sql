-- name: member_moderators :many
-- param: now timestamp
SELECT id, handle FROM member WHERE role IN ('mod', 'admin') AND NOT deleted AND seen_at >= datetime(:now, '-7 days')
  ORDER BY seen_at DESC, id;

-- name: member_theme :many
SELECT id, ifnull(settings ->> '$.theme', 'light') AS theme FROM member ORDER BY id;

-- name: member_quiet :rows
UPDATE member SET settings = json_set(settings, '$.digest', json('false')) WHERE id = :id AND settings ->> '$.digest'
  IS NOT 0;

-- name: member_hosts :many
SELECT lower(substr(email, instr(email, '@') + 1)) AS host, count(*) AS n FROM member WHERE email IS NOT NULL AND NOT
  deleted GROUP BY host HAVING count(*) > 1 ORDER BY n DESC, host;

-- name: member_places :many
SELECT id, (SELECT count(DISTINCT o.reputation) FROM member o WHERE o.reputation > m.reputation AND NOT o.deleted) + 1
  AS place FROM member m WHERE NOT deleted ORDER BY place, id;

-- name: member_page :many
-- param: rep i64
-- param: after i64
SELECT id, handle, reputation FROM member WHERE (reputation, id) < (:rep, :after) ORDER BY reputation DESC, id DESC
  LIMIT 20;

-- name: member_forget :opt
UPDATE member SET email = NULL, deleted = 1, settings = '{}', handle = 'gone-' || id WHERE id = :id AND deleted = 0
  AND role NOT IN ('admin') RETURNING handle;

-- name: member_days :many
-- param: day date
SELECT id, CAST(julianday(:day) - julianday(joined_on) AS INTEGER) AS days FROM member WHERE joined_on <= :day ORDER
  BY joined_on, id;

-- name: member_silent :many
-- param: since timestamp
SELECT id FROM member WHERE NOT deleted EXCEPT SELECT author_id FROM post WHERE created_at >= :since ORDER BY id;

-- name: member_newest :many
SELECT id, handle FROM member ORDER BY seen_at DESC, id;

-- name: member_share :many
SELECT id, 100 * reputation / (SELECT sum(reputation) FROM member WHERE reputation > 0) AS percent FROM member WHERE
  reputation > 0 ORDER BY id;

-- name: member_digest :many
SELECT id, email FROM member WHERE settings ->> '$.digest' = 1 AND email IS NOT NULL ORDER BY id;

-- name: member_seen :rows
UPDATE member SET seen_at = max(ifnull(seen_at, :now), :now) WHERE id = :id AND NOT deleted;

-- name: member_purge :rows
DELETE FROM member WHERE deleted = 1 AND id NOT IN (SELECT author_id FROM post WHERE author_id IS NOT NULL);

-- name: member_asleep :many
-- param: since timestamp
SELECT id FROM member WHERE seen_at < :since ORDER BY id;
