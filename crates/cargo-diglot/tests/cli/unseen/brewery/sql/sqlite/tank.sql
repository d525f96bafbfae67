-- name: tank_dirty :many
SELECT id, code FROM tank WHERE cleaned_at IS NULL OR cleaned_at <= :now - 7 * 86400 ORDER BY code;

-- name: tank_pick :opt
-- param: need i64
SELECT id FROM tank WHERE litres >= :need ORDER BY litres, id LIMIT 1;

-- name: tank_free :many
SELECT t.id FROM tank t WHERE NOT EXISTS (SELECT 1 FROM batch b WHERE b.tank_id = t.id AND b.state IN ('fermenting', 'ripe'))
 ORDER BY t.id;

-- name: tank_load :many
SELECT t.code, round(100.0 * coalesce(sum(b.litres), 0) / t.litres) AS percent FROM tank t
  LEFT JOIN batch b ON b.tank_id = t.id AND b.state = 'fermenting' GROUP BY t.id, t.code, t.litres ORDER BY t.code;

-- name: tank_clean :rows
UPDATE tank SET cleaned_at = :now WHERE id = :id AND iif(cleaned_at IS NULL, 1, cleaned_at < :now);
