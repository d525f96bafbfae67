-- name: booking_make :exec
INSERT INTO booking (id, room_id, guest_id, from_on, to_on, booked_at, adults)
VALUES (:id, :room, :guest, :from_day, :to_day, :now, :adults);

-- name: booking_nights :many
SELECT id, CAST(julianday(to_on) - julianday(from_on) AS INTEGER) AS nights FROM booking ORDER BY id;

-- name: booking_cancel :rows
-- param: day date
UPDATE booking SET cancelled_at = :now WHERE id = :id AND cancelled_at IS NULL AND from_on >= date(:day, '+1 day');

-- name: booking_per_day :many
SELECT date(booked_at, 'unixepoch') AS day, count(*) AS n FROM booking GROUP BY day ORDER BY day;

-- name: booking_gaps :many
SELECT id, CAST(julianday(from_on) - julianday(lag(to_on) OVER (PARTITION BY room_id ORDER BY from_on, id)) AS INTEGER) AS gap
  FROM booking ORDER BY id;

-- name: booking_totals :many
-- param: least i64
WITH sums AS (SELECT booking_id, sum(cents) AS cents FROM charge GROUP BY booking_id)
SELECT b.id, s.cents FROM booking b JOIN sums s ON s.booking_id = b.id WHERE s.cents >= :least ORDER BY b.id;

-- name: booking_arrivals :many
-- param: day date
SELECT id FROM booking WHERE from_on = :day AND cancelled_at IS NULL ORDER BY id;

-- name: booking_month :many
SELECT substr(from_on, 1, 7) AS month, count(*) AS n FROM booking GROUP BY month ORDER BY month;

-- name: booking_recent :many
SELECT id FROM booking WHERE booked_at >= :now - 7 * 86400 ORDER BY id;

-- name: booking_longest :many
SELECT id FROM booking ORDER BY julianday(to_on) - julianday(from_on) DESC, id LIMIT 3;

-- name: booking_notes :many
SELECT id, coalesce(nullif(trim(note), ''), '-') AS note FROM booking ORDER BY id;
