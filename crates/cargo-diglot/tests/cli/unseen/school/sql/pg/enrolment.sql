-- name: enrolment_join :rows
WITH taken AS (SELECT count(*) AS n FROM enrolment WHERE course_id = :course)
INSERT INTO enrolment (pupil_id, course_id, enrolled_at)
SELECT :pupil, c.id, :now FROM course c, taken WHERE c.id = :course AND taken.n < c.seats
ON CONFLICT (pupil_id, course_id) DO NOTHING;

-- name: enrolment_leave :rows
-- param: day date
UPDATE enrolment SET left_on = :day WHERE pupil_id = :pupil;

-- name: enrolment_since :many
-- param: day date
SELECT pupil_id, course_id FROM enrolment WHERE enrolled_at >= :day::date::timestamp AT TIME ZONE 'UTC'
 ORDER BY pupil_id, course_id;

-- name: enrolment_drop :rows
DELETE FROM enrolment WHERE course_id = :course AND pupil_id NOT IN (SELECT pupil_id FROM mark);
