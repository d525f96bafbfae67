-- name: room_with :many
-- param: wanted text[]
SELECT id FROM room
 WHERE NOT EXISTS (SELECT 1 FROM json_each(:wanted) AS w WHERE w.value NOT IN (SELECT f.value FROM json_each(room.features) AS f))
 ORDER BY id;

-- name: room_any :many
-- param: wanted text[]
SELECT id FROM room
 WHERE EXISTS (SELECT 1 FROM json_each(room.features) AS f JOIN json_each(:wanted) AS w ON w.value = f.value)
 ORDER BY id;

-- name: room_free :many
-- param: from_day date
-- param: to_day date
SELECT id FROM room r
 WHERE NOT closed AND NOT EXISTS (
   SELECT 1 FROM booking b WHERE b.room_id = r.id AND b.cancelled_at IS NULL AND b.from_on < :to_day AND b.to_on > :from_day)
 ORDER BY id;

-- name: room_kinds :many
SELECT kind, min(rate_cents) AS least, max(rate_cents) AS most FROM room GROUP BY kind
 ORDER BY CASE kind WHEN 'single' THEN 1 WHEN 'double' THEN 2 ELSE 3 END;

-- name: room_raise :rows
UPDATE room SET rate_cents = rate_cents + rate_cents / 10 WHERE kind = :kind AND rate_cents <= 900000;

-- name: room_by_code :many
SELECT id, code FROM room ORDER BY code;

-- name: room_discount :many
SELECT id, rate_cents * 9 / 10 AS cents FROM room ORDER BY id;

-- name: room_featured :many
SELECT id FROM room WHERE json_array_length(features) > 0 ORDER BY id;

-- name: room_feature_add :rows
-- param: feature text
UPDATE room SET features = json_insert(features, '$[#]', :feature)
 WHERE id = :id AND NOT EXISTS (SELECT 1 FROM json_each(features) AS f WHERE f.value = :feature);

-- name: room_below :many
SELECT id FROM room WHERE floor <= 0 ORDER BY floor, id;
