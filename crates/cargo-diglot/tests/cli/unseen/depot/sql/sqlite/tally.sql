-- name: tally_latest :many
SELECT lot_id, counted
  FROM (SELECT lot_id, counted, row_number() OVER (PARTITION BY lot_id ORDER BY counted_ms DESC, id DESC) AS rn FROM tally)
 WHERE rn = 1
 ORDER BY lot_id;

-- name: tally_off :many
SELECT t.id, t.counted, l.qty FROM tally t JOIN lot l ON l.id = t.lot_id
 WHERE t.counted IS NOT l.qty ORDER BY t.id;

-- name: tally_write :exec
-- param: counted i64 null
INSERT INTO tally (id, lot_id, shelf_id, counted, counted_ms) VALUES (:id, :lot, :shelf, ifnull(:counted, 0), :now_ms);

-- name: tally_smooth :many
SELECT id, sum(counted) OVER (ORDER BY counted_ms, id ROWS 2 PRECEDING) AS recent FROM tally ORDER BY id;
