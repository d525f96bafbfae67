-- name: route_standing :many
-- param: day date
SELECT id, label FROM route WHERE set_on <= :day AND (stripped_on IS NULL OR stripped_on > :day) ORDER BY id;

-- name: route_grades :many
WITH RECURSIVE g (grade) AS (VALUES (1) UNION ALL SELECT grade + 1 FROM g WHERE grade < 12)
SELECT g.grade, (SELECT count(*) FROM route r WHERE r.grade = g.grade AND r.stripped_on IS NULL) AS n FROM g ORDER BY g.grade;

-- name: route_stars :many
SELECT r.id, sum(a.stars) * 10 / count(a.stars) AS tenths FROM route r LEFT JOIN ascent a ON a.route_id = r.id GROUP BY r.id ORDER BY r.id;

-- name: route_strip :rows
-- param: day date
UPDATE route SET stripped_on = :day WHERE sector = :sector AND stripped_on IS NULL AND set_on <= :day;

-- name: route_setters :many
SELECT r.id, c.name AS setter FROM route r LEFT JOIN climber c ON c.id = r.setter_id ORDER BY r.id;

-- name: route_easy :many
SELECT id, color FROM route WHERE grade <= :grade AND stripped_on IS NULL ORDER BY grade, id;

-- name: route_named :many
SELECT id FROM route WHERE label = :label ORDER BY id;

-- name: route_height :many
SELECT id, CAST(metres AS INTEGER) AS metres FROM route ORDER BY id;

-- name: route_orphans :rows
DELETE FROM route WHERE setter_id NOT IN (SELECT id FROM climber WHERE left_at IS NULL);
