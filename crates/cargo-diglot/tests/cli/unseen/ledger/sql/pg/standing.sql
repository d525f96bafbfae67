-- name: standing_due :many
-- param: day date
SELECT id, amount FROM standing s WHERE NOT paused AND next_on <= :day AND EXISTS (SELECT 1 FROM account a WHERE a.id = s.account_id
  AND a.closed_at IS NULL) ORDER BY next_on, id;

-- name: standing_advance :rows
UPDATE standing SET failures = 0, next_on = CASE WHEN every = 'month' THEN (date_trunc('month', next_on::timestamp) + interval '1 month')::date WHEN every = 'week' THEN next_on + 7 ELSE next_on + 1 END WHERE id = :id;

-- name: standing_fail :opt
UPDATE standing SET failures = failures + 1, paused = failures >= 2 WHERE id = :id AND paused IS FALSE RETURNING failures, paused;

-- name: standing_back :rows
UPDATE standing SET next_on = (next_on - interval '1 month')::date WHERE id = :id AND every = 'month';

-- name: standing_mondays :many
SELECT id FROM standing WHERE extract(dow FROM next_on) = 0 ORDER BY id;

-- name: standing_total :one
SELECT COALESCE(sum(amount), 0) AS amount FROM standing WHERE account_id = :account AND NOT paused;

-- name: standing_week :many
-- param: day date
SELECT id FROM standing WHERE next_on BETWEEN :day::date AND :day::date + 7 ORDER BY id;
