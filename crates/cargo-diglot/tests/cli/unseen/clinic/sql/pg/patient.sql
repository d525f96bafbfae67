-- name: patient_save :opt
-- param: phone text null
INSERT INTO patient (id, name, born_on, phone, notes) VALUES (:id, :name, :born, :phone, '{}')
ON CONFLICT (phone) DO UPDATE SET name = EXCLUDED.name
RETURNING id, name, phone;

-- name: patient_allergic :many
-- param: allergy text
SELECT id, name FROM patient WHERE notes -> 'allergies' ? :allergy ORDER BY id;

-- name: patient_blood :many
SELECT COALESCE(notes ->> 'blood', 'unknown') AS blood, count(*) AS n FROM patient GROUP BY 1 ORDER BY 1;

-- name: patient_birthdays :many
-- param: day date
SELECT id, name FROM patient WHERE to_char(born_on, 'MM-DD') = to_char(:day::date, 'MM-DD') ORDER BY id;

-- name: patient_forget :rows
WITH gone AS (DELETE FROM waiting WHERE patient_id = :id)
DELETE FROM patient WHERE id = :id;

-- name: patient_adult :many
-- param: day date
SELECT id FROM patient WHERE born_on + interval '18 years' <= :day::date ORDER BY id;

-- name: patient_note :rows
-- param: blood text
UPDATE patient SET notes = notes || jsonb_build_object('blood', :blood::text, 'allergies', '[]'::jsonb) WHERE id = :id;

-- name: patient_insured :many
SELECT id FROM patient WHERE insurer IS NOT NULL ORDER BY id;

-- name: patient_unknown_blood :many
SELECT id FROM patient WHERE notes ->> 'blood' IS NULL ORDER BY id;

-- name: patient_phone :rows
-- param: phone text null
UPDATE patient SET phone = COALESCE(:phone, phone) WHERE id = :id;
