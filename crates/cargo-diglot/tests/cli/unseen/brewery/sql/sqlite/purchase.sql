-- name: purchase_open :many
SELECT id FROM purchase WHERE shipped_at IS NULL ORDER BY placed_at, id;

-- name: purchase_sum_up :rows
UPDATE purchase SET total_cents = (SELECT coalesce(sum(l.bottles * l.cents), 0) FROM line l WHERE l.purchase_id = purchase.id)
 WHERE id = :id;

-- name: purchase_void :rows
DELETE FROM purchase WHERE state = 'void' AND customer_id = :customer AND placed_at < :before;

-- name: purchase_months :many
SELECT strftime('%Y-%m', placed_at, 'unixepoch') AS month, count(*) AS n, sum(total_cents) AS cents FROM purchase
 WHERE state = 'sent' GROUP BY month ORDER BY month;

-- name: purchase_between :many
SELECT id FROM purchase WHERE placed_at >= :from AND placed_at < :until ORDER BY id;

-- name: purchase_send :opt
UPDATE purchase SET state = 'sent', shipped_at = max(placed_at, :now) WHERE id = :id AND state = 'open' RETURNING id;

-- name: purchase_slow :many
SELECT id, (shipped_at - placed_at) / 86400 AS days FROM purchase WHERE shipped_at - placed_at >= 3 * 86400 ORDER BY id;
