-- name: booking_make :exec
INSERT INTO booking (id, room_id, guest_id, from_on, to_on, booked_at, adults)
VALUES (:id, :room, :guest, :from_day, :to_day, :now, :adults);

-- name: booking_nights :many
SELECT id, to_on - from_on AS nights FROM booking ORDER BY id;

-- name: booking_cancel :rows
-- param: day date
UPDATE booking SET cancelled_at = :now WHERE id = :id AND cancelled_at IS NULL AND from_on > :day::date;

-- name: booking_per_day :many
SELECT to_char(booked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*) AS n FROM booking GROUP BY 1 ORDER BY 1;

-- name: booking_gaps :many
SELECT id, from_on - lag(to_on) OVER (PARTITION BY room_id ORDER BY from_on, id) AS gap FROM booking ORDER BY id;

-- name: booking_totals :many
-- param: least i64
SELECT b.id, sum(c.cents)::bigint AS cents FROM booking b JOIN charge c ON c.booking_id = b.id
 GROUP BY b.id HAVING sum(c.cents) >= :least ORDER BY b.id;

-- name: booking_arrivals :many
-- param: day date
SELECT id FROM booking WHERE from_on = :day ORDER BY id;

-- name: booking_month :many
SELECT to_char(to_on, 'YYYY-MM') AS month, count(*) AS n FROM booking GROUP BY 1 ORDER BY 1;

-- name: booking_recent :many
SELECT id FROM booking WHERE booked_at >= date_trunc('day', :now::timestamptz, 'UTC') - interval '7 days' ORDER BY id;

-- name: booking_longest :many
SELECT id FROM booking ORDER BY to_on - from_on DESC, id DESC LIMIT 3;

-- name: booking_notes :many
SELECT id, COALESCE(NULLIF(note, ''), '-') AS note FROM booking ORDER BY id;
