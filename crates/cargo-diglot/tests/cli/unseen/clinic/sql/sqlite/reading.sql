-- name: reading_put :exec
-- param: amount f64 null
INSERT INTO reading (visit_id, kind, amount) VALUES (:visit, :kind, :amount)
ON CONFLICT (visit_id, kind) DO UPDATE SET amount = excluded.amount;

-- name: reading_put_first :exec
-- param: amount f64 null
INSERT INTO reading (visit_id, kind, amount) VALUES (:visit, :kind, :amount)
ON CONFLICT (visit_id, kind) DO NOTHING;

-- name: reading_span :many
SELECT visit_id, max(amount) - min(amount) AS span FROM reading WHERE kind = :kind GROUP BY visit_id ORDER BY visit_id;
