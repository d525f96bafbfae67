-- name: enrolment_join :rows
INSERT INTO enrolment (pupil_id, course_id, enrolled_at)
SELECT :pupil, c.id, :now FROM course c
 WHERE c.id = :course AND (SELECT count(*) FROM enrolment e WHERE e.course_id = c.id) < c.seats
ON CONFLICT DO NOTHING;

-- name: enrolment_leave :rows
-- param: day date
UPDATE enrolment SET left_on = :day WHERE pupil_id = :pupil AND left_on IS NULL;

-- name: enrolment_since :many
-- param: day date
SELECT pupil_id, course_id FROM enrolment WHERE date(enrolled_at, 'unixepoch') >= :day ORDER BY pupil_id, course_id;

-- name: enrolment_drop :rows
DELETE FROM enrolment WHERE course_id = :course
   AND NOT EXISTS (SELECT 1 FROM mark m WHERE m.pupil_id = enrolment.pupil_id AND m.course_id = enrolment.course_id);
