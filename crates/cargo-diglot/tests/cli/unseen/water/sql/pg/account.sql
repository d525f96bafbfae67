-- name: account_running :many
SELECT b.id, (SELECT sum(o.cents) FROM bill o WHERE o.account_id = b.account_id AND o.state <> 'void' AND (o.period, o.id) <= (b.period, b.id)) AS total
  FROM bill b WHERE b.account_id = :account AND b.state <> 'void' ORDER BY b.period, b.id;

-- name: account_overdue :many
-- param: day date
SELECT t.id, t.cents FROM (
  SELECT a.id, COALESCE(sum(b.cents) FILTER (WHERE b.state = 'sent' AND b.due_on < :day), 0) AS cents
    FROM account a LEFT JOIN bill b ON b.account_id = a.id GROUP BY a.id
) t WHERE t.cents > 0 ORDER BY t.cents DESC, t.id;

-- name: account_masked :many
SELECT id, left(email, 1) || '***' || substring(email FROM position('@' IN email)) AS email FROM account WHERE closed_at IS NULL ORDER BY id;

-- name: account_phones :many
SELECT id, translate(phone, '-/ ', '') AS phone FROM account WHERE phone IS NOT NULL ORDER BY id;

-- name: account_close :rows
UPDATE account SET closed_at = :now WHERE id = :id AND closed_at IS NULL AND balance >= 0;

-- name: account_find :many
-- param: q text
SELECT id FROM account WHERE customer LIKE :q || '%' ESCAPE '' ORDER BY id;

-- name: account_hosts :many
SELECT split_part(email, '@', 2) AS host, count(*) AS n FROM account WHERE email IS NOT NULL GROUP BY 1 ORDER BY n DESC, host;

-- name: account_put :rows
INSERT INTO account (id, customer, email) VALUES (:id, :customer, NULL)
ON CONFLICT (id) DO UPDATE SET customer = EXCLUDED.customer, email = NULL, phone = NULL, balance = 0, closed_at = NULL;
