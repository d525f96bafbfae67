-- name: officer_remove :rows
DELETE FROM officer WHERE id = :id AND id NOT IN (SELECT officer_id FROM fine WHERE officer_id IS NOT NULL AND paid_at IS NULL);

-- name: officer_leaders :many
SELECT o.id, o.name, sum(f.cents) AS cents FROM officer o JOIN fine f ON f.officer_id = o.id
 GROUP BY o.id, o.name HAVING sum(f.cents) >= :least ORDER BY cents DESC, o.id;

-- name: officer_count :many
SELECT o.id, count(f.id) AS n FROM officer o LEFT JOIN fine f ON f.officer_id = o.id GROUP BY o.id ORDER BY o.id;

-- name: officer_hosts :many
SELECT id, substr(email, instr(email, '@') + 1) AS host FROM officer ORDER BY id;

-- name: officer_roll :many
SELECT id, name FROM officer ORDER BY name COLLATE NOCASE, id;
