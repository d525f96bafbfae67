-- name: tank_dirty :many
SELECT id, code FROM tank WHERE COALESCE(cleaned_at, '-infinity'::timestamptz) <= :now::timestamptz - interval '7 days' ORDER BY code;

-- name: tank_pick :opt
-- param: need i64
SELECT id FROM tank WHERE litres >= :need ORDER BY litres DESC, id LIMIT 1;

-- name: tank_free :many
SELECT t.id FROM tank t LEFT JOIN batch b ON b.tank_id = t.id AND b.state IN ('fermenting', 'ripe') WHERE b.id IS NULL ORDER BY t.id;

-- name: tank_load :many
SELECT t.code, round(100.0::double precision * COALESCE(sum(b.litres), 0)::double precision / t.litres) AS percent FROM tank t
  LEFT JOIN batch b ON b.tank_id = t.id AND b.state = 'fermenting' GROUP BY t.id, t.code, t.litres ORDER BY t.code;

-- name: tank_clean :rows
UPDATE tank SET cleaned_at = :now WHERE id = :id AND (cleaned_at IS NULL OR cleaned_at < :now);
