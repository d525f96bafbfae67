-- name: officer_remove :rows
DELETE FROM officer WHERE id = :id AND NOT EXISTS (SELECT 1 FROM fine f WHERE f.officer_id = officer.id AND f.paid_at IS NULL);

-- name: officer_leaders :many
-- param: least i64
WITH made AS (SELECT officer_id, sum(cents)::bigint AS cents FROM fine WHERE officer_id IS NOT NULL GROUP BY officer_id)
SELECT o.id, o.name, made.cents FROM made JOIN officer o ON o.id = made.officer_id
 WHERE made.cents >= :least ORDER BY made.cents DESC, o.id;

-- name: officer_count :many
SELECT o.id, count(*) AS n FROM officer o LEFT JOIN fine f ON f.officer_id = o.id GROUP BY o.id ORDER BY o.id;

-- name: officer_hosts :many
SELECT id, split_part(email, '@', 2) AS host FROM officer ORDER BY id;

-- name: officer_roll :many
SELECT id, name FROM officer ORDER BY name, id;
