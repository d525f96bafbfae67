-- name: tally_latest :many
SELECT DISTINCT ON (lot_id) lot_id, counted
  FROM tally
 ORDER BY lot_id, counted_ms DESC, id DESC;

-- name: tally_off :many
SELECT t.id, t.counted, l.qty FROM tally t JOIN lot l ON l.id = t.lot_id
 WHERE t.counted IS DISTINCT FROM l.qty ORDER BY t.id;

-- name: tally_write :exec
-- param: counted i64 null
INSERT INTO tally (id, lot_id, shelf_id, counted, counted_ms) VALUES (:id, :lot, :shelf, :counted, :now_ms);

-- name: tally_smooth :many
SELECT id, (sum(counted) OVER (ORDER BY counted_ms, id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW))::bigint AS recent FROM tally ORDER BY id;
