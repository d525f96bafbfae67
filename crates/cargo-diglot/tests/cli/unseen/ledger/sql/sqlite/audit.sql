-- name: audit_write :rows
-- param: who text null
INSERT INTO audit (what, who, made_at) VALUES (:what, nullif(:who, ''), :now);

-- name: audit_prune :rows
DELETE FROM audit WHERE id NOT IN (SELECT id FROM audit ORDER BY made_at DESC, id DESC LIMIT 2);

-- name: audit_people :many
SELECT coalesce(who, '?') AS who, count(*) AS n FROM audit GROUP BY coalesce(who, '?') ORDER BY who;
