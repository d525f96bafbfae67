-- name: loan_late :many
-- param: now timestamp
SELECT id, borrower FROM loan WHERE returned_at IS NULL AND sent_at < strftime('%Y-%m-%dT%H:%M:%SZ', :now, '-90 days') ORDER BY sent_at, id;

-- name: loan_days :many
SELECT id, CAST(julianday(date(returned_at)) - julianday(date(sent_at)) AS INTEGER) AS days FROM loan WHERE returned_at IS NOT NULL ORDER BY id;

-- name: loan_return :opt
UPDATE loan SET returned_at = :now, paid = fee WHERE piece_id = :piece AND returned_at IS NULL AND sent_at <= :now RETURNING id, paid;

-- name: loan_debts :many
SELECT borrower, sum(fee - paid) AS owed FROM loan GROUP BY borrower HAVING owed > 0 ORDER BY owed DESC, borrower;

-- name: loan_euros :many
SELECT id, (fee + 50) / 100 AS euros FROM loan ORDER BY id;

-- name: loan_whole :many
SELECT id, CAST(fee / 100.0 AS INTEGER) AS euros FROM loan ORDER BY id;

-- name: loan_weekdays :many
SELECT id, CAST(strftime('%w', sent_at) AS INTEGER) AS weekday FROM loan ORDER BY id;

-- name: loan_purge :rows
DELETE FROM loan WHERE returned_at < :before;

-- name: loan_open :many
SELECT p.id, l.borrower FROM piece p LEFT JOIN loan l ON l.piece_id = p.id AND l.returned_at IS NULL ORDER BY p.id;
