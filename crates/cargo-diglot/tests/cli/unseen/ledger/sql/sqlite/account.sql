-- name: account_idle :many
-- param: since timestamp
SELECT a.id FROM account a WHERE a.closed_at IS NULL AND NOT EXISTS (SELECT 1 FROM entry e WHERE e.account_id = a.id
  AND e.booked_at > :since) ORDER BY a.id;

-- name: account_close :opt
UPDATE account SET closed_at = :now WHERE id = :id AND balance = 0 AND closed_at IS NULL AND opened_at <= :now RETURNING holder_id;

-- name: account_shares :many
SELECT id, 100 * balance / nullif(sum(balance) OVER (), 0) AS percent FROM account ORDER BY id;

-- name: account_pay :opt
UPDATE account SET balance = balance - :amount WHERE id = :id AND balance >= :amount AND closed_at IS NULL RETURNING balance;

-- name: account_open :many
-- param: now timestamp
SELECT id FROM account WHERE closed_at IS NULL OR closed_at > :now ORDER BY id;

-- name: account_low :many
SELECT id FROM account WHERE balance < :least AND currency <> 'JPY' ORDER BY id;

-- name: account_rich :many
SELECT holder_id, sum(balance) AS balance FROM account GROUP BY holder_id HAVING sum(balance) > 0 ORDER BY holder_id;

-- name: account_drop :rows
DELETE FROM account WHERE id = :id AND id NOT IN (SELECT account_id FROM entry);

-- name: account_yen :many
SELECT id FROM account WHERE (currency = 'JPY' OR currency = 'USD') AND balance > 0 ORDER BY id;
