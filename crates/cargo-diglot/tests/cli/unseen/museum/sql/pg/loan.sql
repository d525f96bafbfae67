-- name: loan_late :many
-- param: now timestamp
SELECT id, borrower FROM loan WHERE returned_at IS NULL AND sent_at + interval '90 days' < :now ORDER BY sent_at, id;

-- name: loan_days :many
SELECT id, (returned_at AT TIME ZONE 'UTC')::date - (sent_at AT TIME ZONE 'UTC')::date AS days FROM loan WHERE returned_at IS NOT NULL ORDER BY id;

-- name: loan_return :opt
UPDATE loan SET returned_at = :now, paid = fee WHERE piece_id = :piece AND returned_at IS NULL AND NOT sent_at > :now RETURNING id, fee AS paid;

-- name: loan_debts :many
SELECT borrower, sum(fee) - sum(paid) AS owed FROM loan GROUP BY borrower HAVING sum(fee) > sum(paid) ORDER BY 2 DESC, 1;

-- name: loan_euros :many
SELECT id, round(fee / 100.0)::bigint AS euros FROM loan ORDER BY id;

-- name: loan_whole :many
SELECT id, (fee / 100.0)::bigint AS euros FROM loan ORDER BY id;

-- name: loan_weekdays :many
SELECT id, extract(isodow FROM sent_at AT TIME ZONE 'UTC')::bigint AS weekday FROM loan ORDER BY id;

-- name: loan_purge :rows
DELETE FROM loan WHERE COALESCE(returned_at, sent_at) < :before;

-- name: loan_open :many
SELECT p.id, l.borrower FROM piece p LEFT JOIN loan l ON l.piece_id = p.id WHERE l.returned_at IS NULL ORDER BY p.id;
