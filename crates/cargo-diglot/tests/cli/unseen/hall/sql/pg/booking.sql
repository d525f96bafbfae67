-- name: booking_promote :opt
WITH next AS (
  SELECT course_id, climber_id FROM booking WHERE course_id = :course AND state = 'waiting' ORDER BY booked_at, climber_id LIMIT 1 FOR UPDATE SKIP LOCKED
)
UPDATE booking b SET state = 'booked' FROM next WHERE b.course_id = next.course_id AND b.climber_id = next.climber_id RETURNING b.climber_id;

-- name: booking_room :many
SELECT c.id, c.seats - COALESCE(b.n, 0) AS room FROM course c
  LEFT JOIN (SELECT course_id, count(*) AS n FROM booking WHERE state IN ('booked', 'done') GROUP BY course_id) b ON b.course_id = c.id ORDER BY c.id;

-- name: booking_cancel :rows
DELETE FROM booking b USING course c WHERE c.id = b.course_id AND c.id = :course AND b.climber_id = :climber AND b.state IN ('waiting', 'booked');

-- name: booking_confirm :rows
UPDATE booking SET state = 'booked' WHERE course_id = :course AND climber_id = :climber AND state = 'waiting' AND (
  SELECT count(*) FROM booking b WHERE b.course_id = :course AND b.state = 'booked') <= (SELECT seats FROM course WHERE id = :course);

-- name: booking_late :many
-- param: now timestamp
SELECT b.course_id, b.climber_id FROM booking b JOIN course c ON c.id = b.course_id WHERE c.begins_at <= :now::timestamptz + interval '2 days'
 ORDER BY b.course_id, b.climber_id;

-- name: booking_swap :rows
UPDATE booking SET course_id = :to, state = 'waiting' WHERE course_id = :course AND climber_id = :climber;
