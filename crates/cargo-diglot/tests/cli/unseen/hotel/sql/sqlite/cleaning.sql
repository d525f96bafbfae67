-- name: cleaning_plan :rows
-- param: day date
INSERT INTO cleaning (room_id, day_on, done) SELECT id, :day, 0 FROM room WHERE NOT closed
ON CONFLICT (room_id, day_on) DO NOTHING;

-- name: cleaning_done :rows
-- param: day date
UPDATE cleaning SET done = 1, staff = :staff WHERE room_id = :room AND day_on <= :day AND NOT done;
