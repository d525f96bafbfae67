-- name: room_shown :many
SELECT r.code, (SELECT count(*) FROM piece p WHERE p.room_code = r.code AND p.state = 'shown') AS shown FROM room r ORDER BY r.code;

-- name: room_toggle :opt
UPDATE room SET closed = NOT closed WHERE code = :code RETURNING closed;

-- name: room_rename :rows
UPDATE room SET code = :to WHERE code = :code AND NOT code = :to;

-- name: room_climate :many
SELECT code, CASE WHEN humidity IS NULL THEN 'unknown' WHEN humidity > 60 THEN 'damp' WHEN humidity >= 40 THEN 'good' ELSE 'dry' END AS air
  FROM room ORDER BY code;

-- name: room_remove :rows
DELETE FROM room r WHERE r.code = :code AND (SELECT count(*) FROM piece p WHERE p.room_code = r.code) = 0;

-- name: room_close :rows
UPDATE room SET closed = true WHERE capacity <= 10;

-- name: room_hot :many
SELECT r.code FROM room r JOIN measure m ON m.room_code = r.code GROUP BY r.code HAVING min(m.degrees) > 25 ORDER BY r.code;
