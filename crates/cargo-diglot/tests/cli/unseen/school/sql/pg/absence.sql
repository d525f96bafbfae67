-- name: absence_weeks :many
SELECT date_trunc('week', day::timestamp)::date AS monday, sum(lessons)::bigint AS lessons FROM absence WHERE pupil_id = :pupil
 GROUP BY 1 ORDER BY 1;

-- name: absence_of_week :many
SELECT pupil_id, day FROM absence WHERE extract(week FROM day)::bigint = :week ORDER BY day, pupil_id;

-- name: absence_explain :rows
-- param: reason text
UPDATE absence SET reason = nullif(:reason, ''), excused = true WHERE pupil_id = :pupil AND day = :day;

-- name: absence_in_row :many
SELECT a.pupil_id, a.day FROM absence a
 WHERE EXISTS (SELECT 1 FROM absence b WHERE b.pupil_id = a.pupil_id AND b.day = a.day - 1) ORDER BY a.pupil_id, a.day;

-- name: absence_sum :many
SELECT p.id, COALESCE(a.lessons, 0) AS lessons, a.last FROM pupil p
  LEFT JOIN LATERAL (SELECT sum(lessons)::bigint AS lessons, max(day) AS last FROM absence WHERE pupil_id = p.id AND NOT excused) a ON true
 ORDER BY p.id;

-- name: absence_note :rows
INSERT INTO absence AS a (pupil_id, day, lessons) VALUES (:pupil, :day, :lessons)
ON CONFLICT (pupil_id, day) DO UPDATE SET lessons = GREATEST(a.lessons, EXCLUDED.lessons);

-- name: absence_tell :rows
INSERT INTO absence AS a (pupil_id, day, lessons, reason) VALUES (:pupil, :day, :lessons, :reason)
ON CONFLICT (pupil_id, day) DO UPDATE SET lessons = LEAST(8, a.lessons + EXCLUDED.lessons), reason = EXCLUDED.reason;

-- name: absence_unexplained :many
SELECT pupil_id, day FROM absence WHERE reason IS NULL AND NOT excused ORDER BY day, pupil_id;
