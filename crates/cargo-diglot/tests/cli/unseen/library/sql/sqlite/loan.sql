-- name: loan_return :rows
UPDATE loan SET returned_at = :now WHERE id = :id AND returned_at IS NULL;

-- name: loan_of_day :many
-- param: on_day date
SELECT id, copy_id FROM loan WHERE date(taken_at, 'unixepoch') = :on_day ORDER BY id;

-- name: loan_by_month :many
SELECT strftime('%Y-%m', taken_at, 'unixepoch') AS month, count(*) AS n
  FROM loan GROUP BY month ORDER BY month;

-- name: loan_days_late :many
SELECT id, CAST(julianday(:today) - julianday(due_on) AS INTEGER) AS days
  FROM loan
 WHERE returned_at IS NULL AND due_on < :today
 ORDER BY id;

-- name: loan_overdue :many
SELECT id FROM loan WHERE returned_at IS NULL AND due_on < :today ORDER BY id;

-- name: loan_running :many
SELECT id, CAST(sum(renewals) OVER (ORDER BY due_on) AS INTEGER) AS running
  FROM loan ORDER BY due_on, id;

-- name: loan_until :many
-- param: until_day date
SELECT id FROM loan WHERE taken_at <= unixepoch(:until_day) ORDER BY id;

-- name: loan_last_seen :many
SELECT id, max(taken_at, returned_at) AS seen_at FROM loan ORDER BY id;

-- name: loan_renew :rows
UPDATE loan SET renewals = renewals + 1 WHERE id = :id AND renewals < 2;

-- name: loan_start :exec
-- param: renewals i64 null
INSERT INTO loan (id, copy_id, member_id, taken_at, due_on, returned_at, renewals)
VALUES (:id, :copy, :member, :taken, :due, NULL, COALESCE(:renewals, 0));
