-- name: standing_due :many
-- param: day date
SELECT s.id, s.amount FROM standing s JOIN account a ON a.id = s.account_id WHERE s.next_on <= :day AND s.paused = 0 AND a.closed_at IS NULL
  ORDER BY s.next_on, s.id;

-- name: standing_advance :rows
UPDATE standing SET failures = 0, next_on = CASE every WHEN 'day' THEN date(next_on, '+1 day') WHEN 'week' THEN date(next_on, '+7 days') ELSE date(next_on, 'start of month', '+1 month') END WHERE id = :id;

-- name: standing_fail :opt
UPDATE standing SET failures = failures + 1, paused = failures + 1 >= 3 WHERE id = :id AND paused = 0 RETURNING failures, paused;

-- name: standing_back :rows
UPDATE standing SET next_on = date(next_on, '-1 month') WHERE id = :id AND every = 'month';

-- name: standing_mondays :many
SELECT id FROM standing WHERE strftime('%w', next_on) = '1' ORDER BY id;

-- name: standing_total :one
SELECT coalesce(sum(amount), 0) AS amount FROM standing WHERE account_id = :account;

-- name: standing_week :many
-- param: day date
SELECT id FROM standing WHERE next_on >= :day AND next_on < date(:day, '+7 days') ORDER BY id;
