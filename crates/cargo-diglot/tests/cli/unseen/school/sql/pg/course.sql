-- name: course_full :many
SELECT c.id, c.code FROM course c
 WHERE (SELECT count(*) FROM enrolment e WHERE e.course_id = c.id AND e.left_on IS NULL) >= c.seats ORDER BY c.code;

-- name: course_free :many
SELECT c.id, c.seats - count(e.pupil_id) AS free FROM course c LEFT JOIN enrolment e ON e.course_id = c.id
 WHERE c.active AND e.left_on IS NULL GROUP BY c.id, c.seats ORDER BY free DESC, c.id;

-- name: course_put :rows
INSERT INTO course (id, code, title, level, seats) VALUES (:id, :code, :title, :level, 20)
ON CONFLICT (code) DO UPDATE SET title = EXCLUDED.title, level = EXCLUDED.level
 WHERE (course.title, course.level) IS DISTINCT FROM (EXCLUDED.title, EXCLUDED.level);

-- name: course_assign :rows
-- param: teacher text null
INSERT INTO course (id, code, title, level, seats, teacher) VALUES (:id, :code, :title, 1, 20, :teacher)
ON CONFLICT (code) DO UPDATE SET teacher = COALESCE(EXCLUDED.teacher, course.teacher);

-- name: course_page :many
SELECT id, level FROM course WHERE level > :level OR level = :level AND id > :id ORDER BY level, id FETCH FIRST 3 ROWS ONLY;

-- name: course_next :many
SELECT id, level FROM course WHERE level >= :level AND id > :id ORDER BY level, id LIMIT 2;

-- name: course_names :one
SELECT COALESCE(string_agg(code, ', ' ORDER BY code), '') AS codes FROM course WHERE active;

-- name: course_levels :many
SELECT l.level, count(c.id) AS n FROM generate_series(1, 5) AS l (level) LEFT JOIN course c ON c.level = l.level
 GROUP BY l.level ORDER BY l.level;

-- name: course_remove :rows
DELETE FROM course WHERE id = :id AND NOT EXISTS (SELECT 1 FROM enrolment e WHERE e.course_id = course.id);

-- name: course_rename :rows
UPDATE course SET title = :title WHERE code = :code;
