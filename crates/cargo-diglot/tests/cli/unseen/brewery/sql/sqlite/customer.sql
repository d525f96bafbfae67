-- name: customer_totals :many
SELECT c.id, coalesce(sum(p.total_cents), 0) AS cents, count(p.id) AS n FROM customer c
  LEFT JOIN purchase p ON p.customer_id = c.id AND p.state <> 'void' GROUP BY c.id ORDER BY c.id;

-- name: customer_login :opt
-- param: email text
SELECT id, name FROM customer WHERE lower(email) = lower(:email) ORDER BY id LIMIT 1;

-- name: customer_list :many
SELECT id, name FROM customer ORDER BY name COLLATE NOCASE, id;

-- name: customer_cities :many
SELECT city, count(*) AS n FROM customer WHERE city <> '' GROUP BY city ORDER BY n DESC, city;

-- name: customer_pay :rows
-- param: cents i32
UPDATE customer SET credit_cents = credit_cents - :cents WHERE id = :id AND credit_cents >= :cents AND :cents > 0;

-- name: customer_elsewhere :many
SELECT id FROM customer WHERE city <> :city ORDER BY id;
