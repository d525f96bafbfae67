-- name: course_full :many
SELECT c.id, c.code FROM course c JOIN enrolment e ON e.course_id = c.id AND e.left_on IS NULL
 GROUP BY c.id, c.code, c.seats HAVING count(*) >= c.seats ORDER BY c.code;

-- name: course_free :many
SELECT c.id, c.seats - count(e.pupil_id) AS free FROM course c LEFT JOIN enrolment e ON e.course_id = c.id AND e.left_on IS NULL
 WHERE c.active GROUP BY c.id, c.seats ORDER BY free DESC, c.id;

-- name: course_put :rows
INSERT INTO course (id, code, title, level, seats) VALUES (:id, :code, :title, :level, 20)
ON CONFLICT (code) DO UPDATE SET title = excluded.title, level = excluded.level
 WHERE course.title <> excluded.title OR course.level <> excluded.level;

-- name: course_assign :rows
-- param: teacher text null
INSERT INTO course (id, code, title, level, seats, teacher) VALUES (:id, :code, :title, 1, 20, :teacher)
ON CONFLICT (code) DO UPDATE SET teacher = excluded.teacher;

-- name: course_page :many
SELECT id, level FROM course WHERE (level, id) > (:level, :id) ORDER BY level, id LIMIT 3;

-- name: course_next :many
SELECT id, level FROM course WHERE level > :level OR level = :level AND id > :id ORDER BY level, id LIMIT 2;

-- name: course_names :one
SELECT coalesce(group_concat(code, ', '), '') AS codes FROM (SELECT code FROM course WHERE active = 1 ORDER BY code);

-- name: course_levels :many
SELECT l.value AS level, (SELECT count(*) FROM course c WHERE c.level = l.value) AS n
  FROM json_each('[1,2,3,4,5,6]') l ORDER BY l.value;

-- name: course_remove :rows
DELETE FROM course WHERE id = :id AND NOT EXISTS (SELECT 1 FROM enrolment e WHERE e.course_id = course.id AND e.left_on IS NULL);

-- name: course_rename :rows
UPDATE course SET title = :title WHERE lower(code) = lower(:code);
