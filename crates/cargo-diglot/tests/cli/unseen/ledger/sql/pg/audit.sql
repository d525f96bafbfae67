-- name: audit_write :rows
-- param: who text null
INSERT INTO audit (what, who, made_at) SELECT :what, CASE WHEN :who::text <> '' THEN :who::text END, :now;

-- name: audit_prune :rows
DELETE FROM audit WHERE id NOT IN (SELECT id FROM audit ORDER BY made_at DESC, id DESC LIMIT 3);

-- name: audit_people :many
SELECT who, count(*) AS n FROM audit WHERE who IS NOT NULL GROUP BY who ORDER BY who;
