-- name: patient_save :opt
-- param: phone text null
INSERT INTO patient (id, name, born_on, phone, notes) VALUES (:id, :name, :born, :phone, '{}')
ON CONFLICT (phone) DO UPDATE SET name = excluded.name
RETURNING id, name, phone;

-- name: patient_allergic :many
-- param: allergy text
SELECT id, name FROM patient
 WHERE EXISTS (SELECT 1 FROM json_each(patient.notes, '$.allergies') AS a WHERE a.value = :allergy)
 ORDER BY id;

-- name: patient_blood :many
SELECT coalesce(json_extract(notes, '$.blood'), 'unknown') AS blood, count(*) AS n FROM patient GROUP BY blood ORDER BY blood;

-- name: patient_birthdays :many
-- param: day date
SELECT id, name FROM patient WHERE strftime('%m-%d', born_on) = strftime('%m-%d', :day) ORDER BY id;

-- name: patient_forget :rows
DELETE FROM waiting WHERE patient_id = :id;
DELETE FROM patient WHERE id = :id;

-- name: patient_adult :many
-- param: day date
SELECT id FROM patient WHERE julianday(:day) - julianday(born_on) >= 18 * 365 ORDER BY id;

-- name: patient_note :rows
-- param: blood text
UPDATE patient SET notes = json_set(notes, '$.blood', :blood) WHERE id = :id;

-- name: patient_insured :many
SELECT id FROM patient WHERE nullif(trim(insurer), '') IS NOT NULL ORDER BY id;

-- name: patient_unknown_blood :many
SELECT id FROM patient WHERE json_type(notes, '$.blood') IS NULL ORDER BY id;

-- name: patient_phone :rows
-- param: phone text null
UPDATE patient SET phone = :phone WHERE id = :id;
