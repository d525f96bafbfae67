-- name: course_clashes :many
SELECT a.id, b.id AS other FROM course a JOIN course b ON b.teacher_id = a.teacher_id AND b.id > a.id
 WHERE a.begins_at < b.ends_at AND b.begins_at < a.ends_at ORDER BY a.id, b.id;

-- name: course_month :many
-- param: month text
SELECT id, title FROM course WHERE strftime('%Y-%m', begins_at) = :month ORDER BY begins_at, id;

-- name: course_gratis :many
SELECT id FROM course WHERE price = '0.00' ORDER BY id;

-- name: course_others :many
SELECT id, title FROM course WHERE teacher_id IS NOT :teacher ORDER BY id;

-- name: course_clear :rows
DELETE FROM course WHERE ends_at <= :now;
