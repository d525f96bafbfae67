-- name: badge_shelf :many
SELECT kind, level FROM badge WHERE member_id = :member ORDER BY array_position(ARRAY['gold', 'silver', 'bronze'],
  kind), level DESC;

-- name: badge_grant :opt
INSERT INTO badge AS b (member_id, kind, level) VALUES (:member, :kind, :level) ON CONFLICT (member_id, kind) DO
  UPDATE SET level = GREATEST(EXCLUDED.level, b.level) RETURNING level;

-- name: badge_veterans :rows
INSERT INTO badge (member_id, kind) SELECT m.id, 'gold' FROM member m LEFT JOIN badge b ON b.member_id = m.id AND
  b.kind = 'gold' WHERE m.reputation > 999 AND m.deleted IS NOT TRUE AND b.kind IS NULL;

-- name: badge_skilled :many
SELECT member_id FROM badge GROUP BY member_id HAVING avg(level) > 2 ORDER BY member_id;
