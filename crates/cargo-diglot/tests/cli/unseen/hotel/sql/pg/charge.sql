-- name: charge_list :many
SELECT id, label, sum(cents) OVER (ORDER BY made_at, id ROWS UNBOUNDED PRECEDING)::bigint AS running
  FROM charge WHERE booking_id = :booking ORDER BY made_at, id;

-- name: charge_categories :many
SELECT COALESCE(category, 'other') AS name, sum(cents)::bigint AS cents FROM charge GROUP BY 1 HAVING sum(cents) <> 0
 ORDER BY COALESCE(category, 'other') COLLATE "C";

-- name: charge_waive :rows
DELETE FROM charge WHERE booking_id = :booking AND cents < 0 AND made_at >= :now::timestamptz - interval '1 hour';

-- name: charge_running :many
SELECT id, sum(cents) OVER (ORDER BY cents)::bigint AS running FROM charge WHERE booking_id = :booking ORDER BY cents, id;
