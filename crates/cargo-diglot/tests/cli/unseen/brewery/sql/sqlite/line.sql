-- name: line_add :exec
INSERT INTO line (purchase_id, position, batch_id, bottles, cents)
SELECT :purchase, 1 + count(*), :batch, :bottles, :cents FROM line WHERE purchase_id = :purchase;

-- name: line_best :many
SELECT batch_id, sum(bottles) AS bottles FROM line GROUP BY batch_id ORDER BY bottles DESC, batch_id LIMIT 2;

-- name: line_discount :rows
UPDATE line SET cents = cents * 9 / 10 WHERE purchase_id = :purchase AND bottles >= 100;
