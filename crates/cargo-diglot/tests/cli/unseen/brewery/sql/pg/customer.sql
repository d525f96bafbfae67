-- name: customer_totals :many
SELECT c.id, p.cents, p.n FROM customer c CROSS JOIN LATERAL (
  SELECT COALESCE(sum(total_cents), 0)::bigint AS cents, count(*) AS n FROM purchase WHERE customer_id = c.id AND state <> 'void'
) p ORDER BY c.id;

-- name: customer_login :opt
-- param: email text
SELECT id, name FROM customer WHERE lower(email) = lower(:email) ORDER BY id LIMIT 1;

-- name: customer_list :many
SELECT id, name FROM customer ORDER BY name, id;

-- name: customer_cities :many
SELECT city, count(*) AS n FROM customer WHERE length(city) > 0 GROUP BY city ORDER BY 2 DESC, 1;

-- name: customer_pay :rows
-- param: cents i32
UPDATE customer SET credit_cents = credit_cents - :cents WHERE id = :id AND :cents BETWEEN 1 AND credit_cents;

-- name: customer_elsewhere :many
SELECT id FROM customer WHERE city IS DISTINCT FROM :city ORDER BY id;
