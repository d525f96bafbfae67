-- name: loan_return :rows
UPDATE loan SET returned_at = :now WHERE id = :id AND returned_at IS NULL;

-- name: loan_of_day :many
-- param: on_day date
SELECT id, copy_id FROM loan
 WHERE taken_at >= :on_day::date AND taken_at < :on_day::date + 1
 ORDER BY id;

-- name: loan_by_month :many
SELECT to_char(taken_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*) AS n
  FROM loan GROUP BY 1 ORDER BY 1;

-- name: loan_days_late :many
SELECT id, :today::date - due_on AS days
  FROM loan
 WHERE returned_at IS NULL AND due_on < :today::date
 ORDER BY id;

-- name: loan_overdue :many
SELECT id FROM loan WHERE returned_at IS NULL AND due_on <= :today ORDER BY id;

-- name: loan_running :many
SELECT id, CAST(sum(renewals) OVER (ORDER BY due_on, id) AS bigint) AS running
  FROM loan ORDER BY due_on, id;

-- name: loan_until :many
-- param: until_day date
SELECT id FROM loan WHERE taken_at < :until_day::date + 1 ORDER BY id;

-- name: loan_last_seen :many
SELECT id, GREATEST(taken_at, returned_at) AS seen_at FROM loan ORDER BY id;

-- name: loan_renew :rows
UPDATE loan SET renewals = renewals + 1 WHERE id = :id AND renewals <= 2;

-- name: loan_start :exec
-- param: renewals i64 null
INSERT INTO loan (id, copy_id, member_id, taken_at, due_on, returned_at, renewals)
VALUES (:id, :copy, :member, :taken, :due, NULL, COALESCE(:renewals, 1));
