-- name: ticket_hours :many
SELECT CAST(strftime('%H', sold_at / 1000, 'unixepoch') AS INTEGER) AS hour, sum(heads) AS heads FROM ticket GROUP BY hour ORDER BY hour;

-- name: ticket_totals :many
SELECT kind, sum(cents) AS cents FROM ticket GROUP BY kind UNION ALL SELECT 'total', sum(cents) FROM ticket ORDER BY kind;

-- name: ticket_gift :rows
INSERT INTO ticket (id, show_id, visitor_id, kind, cents, sold_at) SELECT :id, s.id, :visitor, 'free', 0, :now FROM show s WHERE s.id = :show;

-- name: ticket_median :many
SELECT cents FROM ticket ORDER BY cents LIMIT 1 OFFSET (SELECT (count(*) - 1) / 2 FROM ticket);

-- name: ticket_sell :rows
INSERT INTO ticket (id, show_id, heads, cents, sold_at) SELECT :id, s.id, :heads, s.price * :heads, :now FROM show s WHERE s.id = :show;

-- name: ticket_visitors :many
SELECT visitor_id FROM ticket WHERE show_id = :first UNION SELECT visitor_id FROM ticket WHERE show_id = :second ORDER BY visitor_id;

-- name: ticket_recent :many
-- param: now timestamp
SELECT id FROM ticket WHERE sold_at >= :now - 2592000000 ORDER BY id;
