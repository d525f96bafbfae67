-- name: visit_book :exec
INSERT INTO visit (id, doctor_id, patient_id, starts_at, state) VALUES (:id, :doctor, :patient, :starts, 'booked');

-- name: visit_of_day :many
-- param: day date
SELECT id FROM visit WHERE date(starts_at / 1000, 'unixepoch') = :day ORDER BY starts_at, id;

-- name: visit_per_month :many
SELECT strftime('%Y-%m', starts_at / 1000, 'unixepoch') AS month, count(*) AS n, coalesce(sum(fee_cents), 0) AS cents
  FROM visit GROUP BY month ORDER BY month;

-- name: visit_page :many
SELECT id, starts_at FROM visit WHERE (starts_at, id) < (:before, :id) ORDER BY starts_at DESC, id DESC LIMIT 3;

-- name: visit_last :many
SELECT patient_id, id FROM (
  SELECT patient_id, id, row_number() OVER (PARTITION BY patient_id ORDER BY starts_at DESC, id DESC) AS place FROM visit
) WHERE place = 1 ORDER BY patient_id;

-- name: visit_miss :rows
UPDATE visit SET state = 'missed' WHERE state = 'booked' AND starts_at < :now - 3600000;

-- name: visit_long :many
SELECT id FROM visit WHERE ends_at - starts_at >= 30 * 60 * 1000 ORDER BY id;

-- name: visit_per_weekday :many
SELECT CAST(strftime('%w', starts_at / 1000, 'unixepoch') AS INTEGER) AS weekday, count(*) AS n FROM visit GROUP BY weekday ORDER BY weekday;

-- name: visit_average_fee :one
SELECT sum(fee_cents) * 1.0 / count(*) AS cents FROM visit WHERE state = 'seen';

-- name: visit_next :many
-- param: most i64
SELECT id, starts_at FROM visit WHERE starts_at > :now ORDER BY starts_at, id LIMIT :most;

-- name: visit_bill :rows
UPDATE visit SET fee_cents = coalesce(fee_cents, :cents), state = 'seen' WHERE id = :id;

-- name: visit_open :many
SELECT id FROM visit WHERE ends_at IS NOT :ends ORDER BY id;
