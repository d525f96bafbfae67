-- name: badge_shelf :many
SELECT kind, level FROM badge WHERE member_id = :member ORDER BY CASE kind WHEN 'gold' THEN 1 WHEN 'silver' THEN 2
  ELSE 3 END, level DESC;

-- name: badge_grant :opt
INSERT INTO badge (member_id, kind, level) VALUES (:member, :kind, :level) ON CONFLICT (member_id, kind) DO UPDATE SET
  level = max(level, excluded.level) RETURNING level;

-- name: badge_veterans :rows
INSERT OR IGNORE INTO badge (member_id, kind) SELECT id, 'gold' FROM member WHERE reputation >= 1000 AND NOT deleted;

-- name: badge_skilled :many
SELECT member_id FROM badge GROUP BY member_id HAVING sum(level) / count(*) > 2 ORDER BY member_id;
