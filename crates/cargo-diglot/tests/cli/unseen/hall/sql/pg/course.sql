-- name: course_clashes :many
SELECT a.id, b.id AS other FROM course a JOIN course b ON b.teacher_id = a.teacher_id AND b.id > a.id
   AND (a.begins_at, a.ends_at) OVERLAPS (b.begins_at, b.ends_at) ORDER BY a.id, b.id;

-- name: course_month :many
-- param: month text
SELECT id, title FROM course WHERE to_char(begins_at AT TIME ZONE 'UTC', 'YYYY-MM') = :month ORDER BY begins_at, id;

-- name: course_gratis :many
SELECT id FROM course WHERE price < 1 ORDER BY id;

-- name: course_others :many
SELECT id, title FROM course WHERE teacher_id <> :teacher ORDER BY id;

-- name: course_clear :rows
DELETE FROM course WHERE begins_at <= :now;
