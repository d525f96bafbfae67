-- name: stock_put :one
INSERT INTO stock (variety, grade, n) VALUES (:variety, :grade, :n)
ON CONFLICT (variety, grade) DO UPDATE SET n = n + excluded.n
RETURNING n;

-- name: stock_raise :opt
INSERT INTO stock (variety, grade, n) VALUES (:variety, :grade, :n)
ON CONFLICT (variety, grade) DO UPDATE SET n = max(n, excluded.n)
RETURNING n;

-- name: crate_seal :rows
UPDATE crate SET sealed = 1 WHERE code = :code AND sealed = 0;
