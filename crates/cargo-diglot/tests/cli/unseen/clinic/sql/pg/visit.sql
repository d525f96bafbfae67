-- name: visit_book :exec
INSERT INTO visit (id, doctor_id, patient_id, starts_at, state) VALUES (:id, :doctor, :patient, :starts, 'booked');

-- name: visit_of_day :many
-- param: day date
SELECT id FROM visit WHERE (starts_at AT TIME ZONE 'UTC')::date = :day ORDER BY starts_at, id;

-- name: visit_per_month :many
SELECT to_char(starts_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*) AS n, COALESCE(sum(fee_cents), 0)::bigint AS cents
  FROM visit GROUP BY 1 ORDER BY 1;

-- name: visit_page :many
SELECT id, starts_at FROM visit WHERE starts_at < :before OR starts_at = :before AND id < :id ORDER BY starts_at DESC, id DESC LIMIT 3;

-- name: visit_last :many
SELECT DISTINCT ON (patient_id) patient_id, id FROM visit ORDER BY patient_id, starts_at DESC, id DESC;

-- name: visit_miss :rows
UPDATE visit SET state = 'missed' WHERE state = 'booked' AND starts_at < :now::timestamptz - interval '1 hour';

-- name: visit_long :many
SELECT id FROM visit WHERE ends_at - starts_at > interval '30 minutes' ORDER BY id;

-- name: visit_per_weekday :many
SELECT extract(isodow FROM starts_at AT TIME ZONE 'UTC')::bigint AS weekday, count(*) AS n FROM visit GROUP BY 1 ORDER BY 1;

-- name: visit_average_fee :one
SELECT avg(fee_cents)::double precision AS cents FROM visit WHERE state = 'seen';

-- name: visit_next :many
-- param: most i64
SELECT id, starts_at FROM visit WHERE starts_at > :now ORDER BY starts_at DESC, id LIMIT :most;

-- name: visit_bill :rows
UPDATE visit SET fee_cents = :cents, state = 'seen' WHERE id = :id;

-- name: visit_open :many
SELECT id FROM visit WHERE ends_at <> :ends ORDER BY id;
