-- name: doctor_hire :exec
-- param: room i64 null
INSERT INTO doctor (id, name, specialty, room, active) VALUES (:id, :name, :specialty, :room, true);

-- name: doctor_rooms :many
SELECT id, name FROM doctor WHERE active ORDER BY room NULLS LAST, id;

-- name: doctor_busy :many
SELECT doctor_id AS id FROM visit WHERE state = 'booked' GROUP BY doctor_id HAVING count(*) > 1 ORDER BY doctor_id;

-- name: doctor_load :many
SELECT d.id, COALESCE((SELECT sum(v.fee_cents) FROM visit v WHERE v.doctor_id = d.id AND v.state = 'seen'), 0)::bigint AS cents
  FROM doctor d ORDER BY d.id;

-- name: doctor_in :many
-- param: specialties text[]
SELECT id FROM doctor WHERE specialty = ANY (:specialties) ORDER BY id;

-- name: doctor_of_name :many
SELECT id FROM doctor WHERE name LIKE :prefix || '%' ORDER BY id;

-- name: doctor_free :many
SELECT d.id FROM doctor d LEFT JOIN visit v ON v.doctor_id = d.id
 WHERE v.id IS NULL ORDER BY d.id;

-- name: doctor_close :rows
-- param: day date
UPDATE doctor SET active = false
 WHERE NOT EXISTS (SELECT 1 FROM visit v WHERE v.doctor_id = doctor.id AND v.state = 'booked')
   AND NOT EXISTS (SELECT 1 FROM waiting w WHERE w.doctor_id = doctor.id AND w.since_on >= :day);

-- name: doctor_move :rows
-- param: room i64 null
UPDATE doctor SET room = :room WHERE id = :id AND NOT EXISTS (SELECT 1 FROM doctor d WHERE COALESCE(d.room, 1) = :room);
