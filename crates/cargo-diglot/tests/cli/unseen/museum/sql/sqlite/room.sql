-- name: room_shown :many
SELECT r.code, coalesce(sum(p.state = 'shown'), 0) AS shown FROM room r LEFT JOIN piece p ON p.room_code = r.code GROUP BY r.code ORDER BY r.code;

-- name: room_toggle :opt
UPDATE room SET closed = 1 - closed WHERE code = :code RETURNING closed;

-- name: room_rename :rows
UPDATE room SET code = :to WHERE code = :code AND code <> :to;

-- name: room_climate :many
SELECT code, CASE WHEN humidity < 40 THEN 'dry' WHEN humidity <= 60 THEN 'good' WHEN humidity > 60 THEN 'damp' ELSE 'unknown' END AS air
  FROM room ORDER BY code;

-- name: room_remove :rows
DELETE FROM room WHERE code = :code AND NOT EXISTS (SELECT 1 FROM piece p WHERE p.room_code = room.code);

-- name: room_close :rows
UPDATE room SET closed = 1 WHERE capacity < 10;

-- name: room_hot :many
SELECT code FROM room WHERE NOT EXISTS (SELECT 1 FROM measure m WHERE m.room_code = room.code AND m.degrees <= 25) ORDER BY code;
