-- name: account_running :many
SELECT id, sum(cents) OVER (ORDER BY period, id) AS total FROM bill WHERE account_id = :account AND state <> 'void' ORDER BY period, id;

-- name: account_overdue :many
-- param: day date
SELECT a.id, sum(b.cents) AS cents FROM account a JOIN bill b ON b.account_id = a.id WHERE b.state = 'sent' AND b.due_on < :day
 GROUP BY a.id HAVING sum(b.cents) > 0 ORDER BY cents DESC, a.id;

-- name: account_masked :many
SELECT id, substr(email, 1, 1) || '***' || substr(email, instr(email, '@')) AS email FROM account WHERE closed_at IS NULL ORDER BY id;

-- name: account_phones :many
SELECT id, replace(replace(replace(phone, ' ', ''), '-', ''), '/', '') AS phone FROM account WHERE phone IS NOT NULL ORDER BY id;

-- name: account_close :rows
UPDATE account SET closed_at = :now WHERE id = :id AND closed_at IS NULL AND balance = 0;

-- name: account_find :many
-- param: q text
SELECT id FROM account WHERE customer GLOB :q || '*' ORDER BY id;

-- name: account_hosts :many
SELECT substr(email, instr(email, '@') + 1) AS host, count(*) AS n FROM account WHERE email IS NOT NULL GROUP BY host ORDER BY n DESC, host;

-- name: account_put :rows
INSERT OR REPLACE INTO account (id, customer, email) VALUES (:id, :customer, NULL);
