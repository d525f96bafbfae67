-- name: entry_balances :many
SELECT e.id, (SELECT sum(CASE WHEN o.kind = 'in' THEN o.amount ELSE -o.amount END) FROM entry o WHERE o.account_id = e.account_id
  AND (o.booked_at, o.id) <= (e.booked_at, e.id)) AS balance FROM entry e ORDER BY e.id;

-- name: entry_flow :many
SELECT account_id, COALESCE(sum(amount) FILTER (WHERE kind = 'in'), 0) - COALESCE(sum(amount) FILTER (WHERE kind <> 'in'), 0) AS flow
  FROM entry GROUP BY account_id ORDER BY account_id;

-- name: entry_rent :many
SELECT id FROM entry WHERE memo ILIKE '%rent%' ORDER BY id;

-- name: entry_page :many
-- param: account uuid
-- param: at timestamp
-- param: id i64
SELECT id, amount FROM entry WHERE account_id = :account AND (booked_at < :at OR booked_at = :at AND id < :id)
  ORDER BY booked_at DESC, id DESC LIMIT 3;

-- name: entry_largest :many
SELECT a.id AS account_id, e.id FROM account a CROSS JOIN LATERAL (SELECT id FROM entry WHERE account_id = a.id
  ORDER BY amount DESC, id LIMIT 2) e ORDER BY 1, 2;

-- name: entry_kinds :many
SELECT k.kind, (SELECT count(*) FROM entry e WHERE e.kind = k.kind) AS n FROM unnest(ARRAY['fee', 'in', 'out']) AS k (kind) ORDER BY k.kind;

-- name: entry_reverse :rows
-- param: now timestamp
INSERT INTO entry (id, account_id, kind, amount, booked_at, reverses)
  SELECT :id, e.account_id, CASE WHEN e.kind <> 'in' THEN 'in' ELSE 'out' END, e.amount, :now, :of FROM entry e WHERE e.id = :of
  ON CONFLICT (reverses) DO NOTHING;

-- name: entry_bursts :many
SELECT id FROM (SELECT id, booked_at - lag(booked_at) OVER (PARTITION BY account_id ORDER BY booked_at, id) AS pause FROM entry) t
  WHERE pause <= interval '1 minute' ORDER BY id;

-- name: entry_months :many
SELECT to_char(date_trunc('month', booked_at AT TIME ZONE 'UTC'), 'YYYY-MM') AS month, sum(amount) AS amount FROM entry
  WHERE kind = 'fee' GROUP BY 1 ORDER BY 1;

-- name: entry_marked :many
SELECT id FROM entry WHERE memo LIKE 'x\_1%' ORDER BY id;

-- name: entry_last :opt
SELECT id FROM entry WHERE account_id = :account ORDER BY booked_at DESC, id LIMIT 1;

-- name: entry_memos :one
SELECT count(memo) AS n FROM entry WHERE kind = 'fee';

-- name: entry_undo :rows
UPDATE entry SET kind = CASE kind WHEN 'in' THEN 'out' WHEN 'out' THEN 'in' ELSE kind END WHERE id = :id;

-- name: entry_memo :rows
-- param: memo text null
UPDATE entry SET memo = COALESCE(:memo, memo) WHERE id = :id;

-- name: entry_both :many
SELECT id FROM entry WHERE amount > 1000 UNION ALL SELECT id FROM entry WHERE kind = 'fee' ORDER BY id;

-- name: entry_change :many
SELECT id, amount - lag(amount, 1, 0::bigint) OVER (PARTITION BY account_id ORDER BY id) AS more FROM entry ORDER BY id;
