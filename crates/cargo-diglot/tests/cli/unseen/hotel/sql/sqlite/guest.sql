-- name: guest_find :many
-- param: word text
SELECT id, name FROM guest WHERE instr(name, :word) ORDER BY id;

-- name: guest_smokers :many
SELECT id FROM guest WHERE json_extract(prefs, '$.smoker') IS TRUE ORDER BY id;

-- name: guest_prefer :rows
UPDATE guest SET prefs = json_set(prefs, '$.floor', :floor) WHERE id = :id;

-- name: guest_regulars :many
SELECT id FROM guest WHERE stays > (SELECT avg(stays) FROM guest) ORDER BY id;

-- name: guest_label :many
SELECT id, name || coalesce(' (' || country || ')', '') AS label FROM guest ORDER BY id;

-- name: guest_by_country :many
SELECT country, count(*) AS n FROM guest GROUP BY country ORDER BY country NULLS FIRST;

-- name: guest_mail_same :many
SELECT id FROM guest WHERE email = :email ORDER BY id;

-- name: guest_merge :rows
-- param: prefs json
UPDATE guest SET prefs = json_patch(prefs, :prefs) WHERE id = :id;

-- name: guest_smoking_said :many
SELECT id FROM guest WHERE json_type(prefs, '$.smoker') IS NOT NULL ORDER BY id;

-- name: guest_edit :rows
-- param: country text null
-- param: email text null
UPDATE guest SET country = ifnull(:country, country), email = :email WHERE id = :id;
