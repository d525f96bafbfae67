-- name: stock_put :one
INSERT INTO stock AS s (variety, grade, n) VALUES (:variety, :grade, :n)
ON CONFLICT (variety, grade) DO UPDATE SET n = s.n + excluded.n
RETURNING n;

-- name: stock_raise :opt
INSERT INTO stock (variety, grade, n) VALUES (:variety, :grade, :n)
ON CONFLICT (variety, grade) DO UPDATE SET n = excluded.n WHERE excluded.n > stock.n
RETURNING n;

-- name: crate_seal :rows
UPDATE crate SET sealed = true WHERE code = :code AND NOT sealed;
