-- What a shop asks.

-- Finds those that are due.
-- name: purchase_due :many
SELECT id, cents FROM purchase WHERE state = 'open' AND due_ms <= :now_ms AND cents > 100 ORDER BY due_ms DESC, id DESC LIMIT 2;

-- Turns a page.
-- name: purchase_page :many
SELECT id, state FROM purchase WHERE (cents, id) > (:cents, :id) ORDER BY cents, id LIMIT :most;

-- Tells who buys.
-- name: customer_busy :many
SELECT c.name, count(*) AS n FROM customer AS c JOIN purchase AS p ON p.customer_id = c.id
WHERE p.state <> 'sent' GROUP BY c.id, c.name HAVING count(*) >= 3 ORDER BY c.name;

-- Tells who never did.
-- name: customer_idle :many
SELECT id FROM customer AS c WHERE level IN (1, 2)
    AND NOT EXISTS (SELECT 1 FROM purchase AS p WHERE p.customer_id = c.id AND p.state = 'paid') ORDER BY id;

-- Finds names.
-- name: customer_like :many
SELECT id FROM customer WHERE name LIKE 'a%_b' OR (note IS NULL AND level = 7) ORDER BY id;

-- Pays.
-- name: purchase_pay :rows
UPDATE purchase SET state = 'paid', cents = cents - :less WHERE id = :id AND state = 'open' AND cents >= :less;

-- Goes.
-- name: customer_forget :rows
DELETE FROM customer WHERE id = :id AND level < 5;

-- Counts a visit.
-- name: visit_add :exec
INSERT INTO visit (customer_id, day, hits, rate) VALUES (:customer_id, :day, 1, 0.5)
ON CONFLICT (customer_id, day) DO UPDATE SET hits = visit.hits + excluded.hits, rate = visit.rate * 2.0;

-- Reads a document.
-- name: purchase_gift :many
SELECT id FROM purchase WHERE CAST(json_extract(doc, '$.kind') AS TEXT) = 'gift' AND twice > 50 ORDER BY id;

-- Sums.
-- name: purchase_sum :one
SELECT COALESCE(SUM(CASE WHEN state = 'paid' THEN cents ELSE 0 END), 0) AS paid, COUNT(due_ms) AS due, MAX(cents) AS most FROM purchase WHERE customer_id = :customer_id;

-- Shows everybody with what is open.
-- name: customer_open :many
SELECT c.id, p.id AS purchase_id FROM customer AS c LEFT JOIN purchase AS p ON p.customer_id = c.id AND p.state = 'open' WHERE c.level > :level ORDER BY c.id, p.id;
