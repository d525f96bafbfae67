-- name: absence_weeks :many
SELECT date(day, 'weekday 0', '-6 days') AS monday, sum(lessons) AS lessons FROM absence WHERE pupil_id = :pupil
 GROUP BY monday ORDER BY monday;

-- name: absence_of_week :many
SELECT pupil_id, day FROM absence WHERE CAST(strftime('%W', day) AS INTEGER) = :week ORDER BY day, pupil_id;

-- name: absence_explain :rows
-- param: reason text
UPDATE absence SET reason = nullif(trim(:reason), ''), excused = 1 WHERE pupil_id = :pupil AND day = :day;

-- name: absence_in_row :many
SELECT pupil_id, day FROM (
  SELECT pupil_id, day, lag(day) OVER (PARTITION BY pupil_id ORDER BY day) AS before FROM absence
) WHERE julianday(day) - julianday(before) = 1 ORDER BY pupil_id, day;

-- name: absence_sum :many
SELECT p.id, coalesce(sum(a.lessons), 0) AS lessons, max(a.day) AS last
  FROM pupil p LEFT JOIN absence a ON a.pupil_id = p.id AND NOT a.excused GROUP BY p.id ORDER BY p.id;

-- name: absence_note :rows
INSERT INTO absence (pupil_id, day, lessons) VALUES (:pupil, :day, :lessons)
ON CONFLICT (pupil_id, day) DO UPDATE SET lessons = max(lessons, excluded.lessons);

-- name: absence_tell :rows
INSERT INTO absence (pupil_id, day, lessons, reason) VALUES (:pupil, :day, :lessons, :reason)
ON CONFLICT (pupil_id, day) DO UPDATE SET lessons = min(8, lessons + excluded.lessons);

-- name: absence_unexplained :many
SELECT pupil_id, day FROM absence WHERE coalesce(reason, '') = '' AND NOT excused ORDER BY day, pupil_id;
