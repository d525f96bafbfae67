-- A room with what a night in it costs.
-- name: booking_add_room :exec
INSERT INTO room (id, name, price, features) VALUES (:id, :name, :price, :features);

-- A booking that nobody has confirmed.
-- name: booking_make :exec
-- param: arrives time null
INSERT INTO booking (id, room_id, starts_at, nights, first_day, arrives, note)
VALUES (:id, :room_id, :starts_at, :nights, :first_day, :arrives, :note);

-- Confirms a booking that is open, with what was paid for it.
-- name: booking_confirm :rows
-- param: paid numeric null
UPDATE booking SET state = 'confirmed', paid = :paid, changed_at = unixepoch()
 WHERE id = :id AND state = 'open';

-- How many stars of five the guests gave, in quarters.
-- name: booking_rate :rows
UPDATE booking SET rating = :rating WHERE id = :id AND state = 'confirmed';

-- Cancels bookings that were open for more than an hour.
-- name: booking_expire :rows
UPDATE booking SET state = 'cancelled', changed_at = strftime('%s', 'now')
 WHERE state = 'open' AND changed_at < unixepoch('now', '-1 hour');

-- Bookings of a state that begin in a span of time, with their rooms.
-- name: booking_between :many
SELECT b.id, b.state, b.starts_at, b.nights, b.first_day, b.arrives, b.paid, b.rating, b.note, b.made_at, b.changed_at,
       r.name AS room, r.price, r.features
  FROM booking AS b
  JOIN room AS r ON r.id = b.room_id
 WHERE b.state = :state AND b.starts_at >= :from_at AND b.starts_at < :to_at
 ORDER BY b.starts_at, b.id;

-- When a booking last got another state, when the last one begins, and the best rating.
-- name: booking_latest :one
SELECT max(changed_at) AS changed_at, max(starts_at) AS starts_at, max(rating) AS rating FROM booking;

-- Bookings that were made within the last ten minutes.
-- name: booking_count_new :one
SELECT count(*) AS bookings FROM booking WHERE made_at > datetime('now', '-10 minutes');
