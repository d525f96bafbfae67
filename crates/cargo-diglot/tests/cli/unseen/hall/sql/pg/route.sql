-- name: route_standing :many
-- param: day date
SELECT id, label FROM route WHERE :day BETWEEN set_on AND COALESCE(stripped_on, 'infinity') AND stripped_on IS DISTINCT FROM :day ORDER BY id;

-- name: route_grades :many
SELECT g.grade, count(r.id) AS n FROM generate_series(1, 12) AS g (grade) LEFT JOIN route r ON r.grade = g.grade AND r.stripped_on IS NULL
 GROUP BY g.grade ORDER BY g.grade;

-- name: route_stars :many
SELECT r.id, (SELECT sum(a.stars) * 10 / NULLIF(count(a.stars), 0) FROM ascent a WHERE a.route_id = r.id) AS tenths FROM route r ORDER BY r.id;

-- name: route_strip :rows
-- param: day date
UPDATE route SET stripped_on = :day WHERE sector = :sector AND set_on <= :day;

-- name: route_setters :many
SELECT r.id, c.name AS setter FROM route r JOIN climber c ON c.id = r.setter_id ORDER BY r.id;

-- name: route_easy :many
SELECT id, color FROM route WHERE grade < :grade AND stripped_on IS NULL ORDER BY grade, id;

-- name: route_named :many
SELECT id FROM route WHERE lower(label) = lower(:label) ORDER BY id;

-- name: route_height :many
SELECT id, metres::integer AS metres FROM route ORDER BY id;

-- name: route_orphans :rows
DELETE FROM route r WHERE NOT EXISTS (SELECT 1 FROM climber c WHERE c.id = r.setter_id AND c.left_at IS NULL);
