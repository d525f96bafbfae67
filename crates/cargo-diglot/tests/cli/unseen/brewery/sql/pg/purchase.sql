-- name: purchase_open :many
SELECT id FROM purchase WHERE state = 'open' ORDER BY placed_at, id;

-- name: purchase_sum_up :rows
UPDATE purchase p SET total_cents = COALESCE(t.cents, 0)
  FROM (SELECT sum(bottles * cents)::bigint AS cents FROM line WHERE purchase_id = :id) t WHERE p.id = :id;

-- name: purchase_void :rows
DELETE FROM purchase WHERE state = 'void' AND placed_at < :before;

-- name: purchase_months :many
SELECT to_char(placed_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*) AS n, sum(total_cents)::bigint AS cents FROM purchase
 WHERE state = 'sent' GROUP BY 1 ORDER BY 1;

-- name: purchase_between :many
SELECT id FROM purchase WHERE placed_at BETWEEN :from AND :until ORDER BY id;

-- name: purchase_send :opt
UPDATE purchase SET state = 'sent', shipped_at = GREATEST(:now, placed_at) WHERE id = :id AND state = 'open' RETURNING id;

-- name: purchase_slow :many
SELECT id, extract(day FROM shipped_at - placed_at)::bigint AS days FROM purchase WHERE shipped_at >= placed_at + interval '3 days' ORDER BY id;
