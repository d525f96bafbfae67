-- name: entry_balances :many
SELECT id, sum(CASE kind WHEN 'in' THEN amount ELSE -amount END) OVER (PARTITION BY account_id ORDER BY booked_at, id) AS balance FROM entry
  ORDER BY id;

-- name: entry_flow :many
SELECT account_id, sum(iif(kind = 'in', amount, -amount)) AS flow FROM entry GROUP BY account_id ORDER BY account_id;

-- name: entry_rent :many
SELECT id FROM entry WHERE memo LIKE '%rent%' ORDER BY id;

-- name: entry_page :many
-- param: account uuid
-- param: at timestamp
-- param: id i64
SELECT id, amount FROM entry WHERE account_id = :account AND (booked_at, id) < (:at, :id) ORDER BY booked_at DESC, id DESC LIMIT 3;

-- name: entry_largest :many
SELECT account_id, id FROM (SELECT account_id, id, row_number() OVER (PARTITION BY account_id ORDER BY amount DESC, id) AS place FROM entry)
  WHERE place <= 2 ORDER BY account_id, id;

-- name: entry_kinds :many
SELECT k.column1 AS kind, count(e.id) AS n FROM (VALUES ('in'), ('out'), ('fee')) k LEFT
  JOIN entry e ON e.kind = k.column1 GROUP BY k.column1 ORDER BY kind;

-- name: entry_reverse :rows
-- param: now timestamp
INSERT INTO entry (id, account_id, kind, amount, booked_at, reverses)
  SELECT :id, account_id, CASE kind WHEN 'in' THEN 'out' ELSE 'in' END, amount, :now, id FROM entry WHERE id = :of ON CONFLICT (reverses) DO NOTHING;

-- name: entry_bursts :many
SELECT id FROM (SELECT id, unixepoch(booked_at) - unixepoch(lag(booked_at) OVER (PARTITION BY account_id ORDER BY booked_at, id)) AS pause
  FROM entry) WHERE pause <= 60 ORDER BY id;

-- name: entry_months :many
SELECT strftime('%Y-%m', booked_at) AS month, sum(amount) AS amount FROM entry WHERE kind = 'fee' GROUP BY month ORDER BY month;

-- name: entry_marked :many
SELECT id FROM entry WHERE memo LIKE 'x_1%' ORDER BY id;

-- name: entry_last :opt
SELECT id FROM entry WHERE account_id = :account ORDER BY booked_at DESC, id DESC LIMIT 1;

-- name: entry_memos :one
SELECT count(*) AS n FROM entry WHERE kind = 'fee';

-- name: entry_undo :rows
UPDATE entry SET kind = CASE kind WHEN 'in' THEN 'out' ELSE 'in' END WHERE id = :id;

-- name: entry_memo :rows
-- param: memo text null
UPDATE entry SET memo = :memo WHERE id = :id;

-- name: entry_both :many
SELECT id FROM entry WHERE amount > 1000 UNION SELECT id FROM entry WHERE kind = 'fee' ORDER BY id;

-- name: entry_change :many
SELECT id, amount - lag(amount) OVER (PARTITION BY account_id ORDER BY id) AS more FROM entry ORDER BY id;
