-- name: line_add :exec
INSERT INTO line (purchase_id, position, batch_id, bottles, cents)
SELECT :purchase, COALESCE(max(position), 0) + 1, :batch, :bottles, :cents FROM line WHERE purchase_id = :purchase;

-- name: line_best :many
SELECT batch_id, sum(bottles)::bigint AS bottles FROM line GROUP BY batch_id ORDER BY 2 DESC, 1 FETCH FIRST 2 ROWS ONLY;

-- name: line_discount :rows
UPDATE line SET cents = (cents * 0.9)::bigint WHERE purchase_id = :purchase AND bottles >= 100;
