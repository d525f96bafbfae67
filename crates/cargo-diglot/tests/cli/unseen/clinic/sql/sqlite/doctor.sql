-- name: doctor_hire :exec
-- param: room i64 null
INSERT INTO doctor (id, name, specialty, room, active) VALUES (:id, :name, :specialty, :room, 1);

-- name: doctor_rooms :many
SELECT id, name FROM doctor WHERE active ORDER BY room IS NULL, room, id;

-- name: doctor_busy :many
SELECT d.id FROM doctor d
 WHERE (SELECT count(*) FROM visit v WHERE v.doctor_id = d.id AND v.state = 'booked') >= 2
 ORDER BY d.id;

-- name: doctor_load :many
SELECT d.id, CAST(total(v.fee_cents) AS INTEGER) AS cents
  FROM doctor d LEFT JOIN visit v ON v.doctor_id = d.id AND v.state = 'seen'
 GROUP BY d.id ORDER BY d.id;

-- name: doctor_in :many
-- param: specialties text[]
SELECT id FROM doctor WHERE specialty IN (SELECT value FROM json_each(:specialties)) ORDER BY id;

-- name: doctor_of_name :many
SELECT id FROM doctor WHERE name LIKE :prefix || '%' ORDER BY id;

-- name: doctor_free :many
SELECT d.id FROM doctor d LEFT JOIN visit v ON v.doctor_id = d.id AND v.state = 'booked'
 WHERE v.id IS NULL ORDER BY d.id;

-- name: doctor_close :rows
-- param: day date
UPDATE doctor SET active = 0
 WHERE NOT EXISTS (SELECT 1 FROM visit v WHERE v.doctor_id = doctor.id AND v.state <> 'missed')
   AND NOT EXISTS (SELECT 1 FROM waiting w WHERE w.doctor_id = doctor.id AND w.since_on >= :day);

-- name: doctor_move :rows
-- param: room i64 null
UPDATE doctor SET room = :room WHERE id = :id AND NOT EXISTS (SELECT 1 FROM doctor d WHERE d.room = :room);
