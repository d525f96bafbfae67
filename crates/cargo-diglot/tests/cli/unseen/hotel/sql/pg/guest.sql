-- name: guest_find :many
-- param: word text
SELECT id, name FROM guest WHERE position(:word IN name) > 0 ORDER BY id;

-- name: guest_smokers :many
SELECT id FROM guest WHERE (prefs ->> 'smoker')::boolean IS TRUE ORDER BY id;

-- name: guest_prefer :rows
UPDATE guest SET prefs = jsonb_set(prefs, '{floor}', to_jsonb(:floor::bigint)) WHERE id = :id;

-- name: guest_regulars :many
SELECT id FROM guest WHERE stays > (SELECT avg(stays) FROM guest) ORDER BY id;

-- name: guest_label :many
SELECT id, concat(name, ' (' || country || ')') AS label FROM guest ORDER BY id;

-- name: guest_by_country :many
SELECT country, count(*) AS n FROM guest WHERE country IS NOT NULL GROUP BY country ORDER BY country NULLS FIRST;

-- name: guest_mail_same :many
SELECT id FROM guest WHERE lower(email) = lower(:email) ORDER BY id;

-- name: guest_merge :rows
-- param: prefs json
UPDATE guest SET prefs = prefs || :prefs::jsonb WHERE id = :id;

-- name: guest_smoking_said :many
SELECT id FROM guest WHERE prefs ->> 'smoker' IS NOT NULL ORDER BY id;

-- name: guest_edit :rows
-- param: country text null
-- param: email text null
UPDATE guest SET country = :country, email = :email WHERE id = :id;
