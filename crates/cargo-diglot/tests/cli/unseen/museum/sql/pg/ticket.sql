-- name: ticket_hours :many
SELECT extract(hour FROM sold_at AT TIME ZONE 'UTC')::bigint AS hour, sum(heads) AS heads FROM ticket GROUP BY 1 ORDER BY 1;

-- name: ticket_totals :many
SELECT COALESCE(kind, 'total') AS kind, sum(cents) AS cents FROM ticket GROUP BY ROLLUP (kind) ORDER BY 1;

-- name: ticket_gift :rows
INSERT INTO ticket (id, show_id, visitor_id, kind, cents, sold_at) SELECT :id, :show, :visitor, 'free', 0, :now WHERE EXISTS (SELECT 1
  FROM show WHERE id = :show);

-- name: ticket_median :many
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY cents) AS cents FROM ticket HAVING count(*) > 0;

-- name: ticket_sell :rows
INSERT INTO ticket (id, show_id, heads, cents, sold_at) VALUES (:id, :show, :heads, (SELECT price FROM show WHERE id = :show) * :heads, :now);

-- name: ticket_visitors :many
SELECT visitor_id FROM ticket WHERE show_id = :first UNION ALL SELECT visitor_id FROM ticket WHERE show_id = :second ORDER BY visitor_id NULLS FIRST;

-- name: ticket_recent :many
-- param: now timestamp
SELECT id FROM ticket WHERE sold_at >= :now - interval '1 month' ORDER BY id;
