-- name: permit_issue :opt
-- param: ends date null
INSERT INTO permit (id, zone_id, plate, kind, starts_on, ends_on) VALUES (:id, :zone, :plate, 'guest', :day, :ends)
ON CONFLICT (zone_id, plate) WHERE revoked_at IS NULL DO UPDATE SET ends_on = excluded.ends_on
RETURNING id, ends_on;

-- name: permit_valid :many
-- param: day date
SELECT id, kind FROM permit
 WHERE plate = :plate AND revoked_at IS NULL AND :day BETWEEN starts_on AND coalesce(ends_on, '9999-12-31')
 ORDER BY starts_on, id;

-- name: permit_of :many
-- param: ids uuid[]
SELECT id, plate FROM permit WHERE id IN (SELECT unhex(value, '-') FROM json_each(:ids)) ORDER BY id;

-- name: permit_kinds :many
WITH k (kind) AS (VALUES ('business'), ('guest'), ('resident'))
SELECT k.kind, count(p.id) AS n FROM k LEFT JOIN permit p ON p.kind = k.kind AND p.zone_id = :zone
 GROUP BY k.kind ORDER BY k.kind;

-- name: permit_revoke :opt
UPDATE permit SET revoked_at = coalesce(revoked_at, :now) WHERE id = :id RETURNING plate, revoked_at;

-- name: permit_expiring :many
-- param: day date
SELECT id, ends_on FROM permit WHERE ends_on BETWEEN :day AND date(:day, '+1 month') ORDER BY ends_on, id;

-- name: permit_plate :many
SELECT id FROM permit WHERE plate = upper(replace(:typed, ' ', '')) ORDER BY id;

-- name: permit_prolong :rows
UPDATE permit SET ends_on = date(ends_on, '+1 year') WHERE zone_id = :zone AND ends_on IS NOT NULL;

-- name: permit_strangers :many
-- param: names text[]
SELECT id FROM permit WHERE holder NOT IN (SELECT value FROM json_each(:names)) ORDER BY id;

-- name: permit_purge :rows
-- param: day date
DELETE FROM permit WHERE (ends_on < :day OR revoked_at IS NOT NULL) AND kind = 'guest';
