-- name: booking_promote :opt
UPDATE booking SET state = 'booked' WHERE course_id = :course AND climber_id = (
  SELECT climber_id FROM booking WHERE course_id = :course AND state = 'waiting' ORDER BY booked_at, climber_id LIMIT 1)
RETURNING climber_id;

-- name: booking_room :many
SELECT c.id, c.seats - count(b.climber_id) FILTER (WHERE b.state <> 'waiting') AS room FROM course c LEFT JOIN booking b ON b.course_id = c.id
 GROUP BY c.id, c.seats ORDER BY c.id;

-- name: booking_cancel :rows
DELETE FROM booking WHERE course_id = :course AND climber_id = :climber AND state <> 'done';

-- name: booking_confirm :rows
UPDATE booking SET state = 'booked' WHERE course_id = :course AND climber_id = :climber AND state = 'waiting' AND (
  SELECT count(*) FROM booking b WHERE b.course_id = :course AND b.state = 'booked') < (SELECT seats FROM course WHERE id = :course);

-- name: booking_late :many
-- param: now timestamp
SELECT b.course_id, b.climber_id FROM booking b JOIN course c ON c.id = b.course_id WHERE c.begins_at <= datetime(:now, '+2 hours')
 ORDER BY b.course_id, b.climber_id;

-- name: booking_swap :rows
UPDATE booking SET course_id = :to WHERE course_id = :course AND climber_id = :climber;
