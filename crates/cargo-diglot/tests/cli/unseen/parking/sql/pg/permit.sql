-- name: permit_issue :opt
-- param: ends date null
INSERT INTO permit (id, zone_id, plate, kind, starts_on, ends_on) VALUES (:id, :zone, :plate, 'guest', :day, :ends)
ON CONFLICT (zone_id, plate) WHERE revoked_at IS NULL DO UPDATE SET ends_on = EXCLUDED.ends_on
RETURNING id, ends_on;

-- name: permit_valid :many
-- param: day date
SELECT id, kind FROM permit
 WHERE plate = :plate AND revoked_at IS NULL AND starts_on <= :day AND (ends_on IS NULL OR ends_on >= :day)
 ORDER BY starts_on, id;

-- name: permit_of :many
-- param: ids uuid[]
SELECT id, plate FROM permit WHERE id = ANY(:ids) ORDER BY id;

-- name: permit_kinds :many
SELECT k.kind, (SELECT count(*) FROM permit p WHERE p.zone_id = :zone AND p.kind = k.kind) AS n
  FROM unnest(ARRAY['business', 'guest', 'resident']) AS k (kind)
 ORDER BY k.kind;

-- name: permit_revoke :opt
UPDATE permit SET revoked_at = CASE WHEN revoked_at IS NULL THEN :now ELSE revoked_at END WHERE id = :id
RETURNING plate, revoked_at;

-- name: permit_expiring :many
-- param: day date
SELECT id, ends_on FROM permit WHERE ends_on BETWEEN :day::date AND (:day::date + interval '1 month')::date
 ORDER BY ends_on, id;

-- name: permit_plate :many
SELECT id FROM permit WHERE plate = upper(btrim(:typed)) ORDER BY id;

-- name: permit_prolong :rows
UPDATE permit SET ends_on = ends_on + interval '1 year' WHERE zone_id = :zone AND ends_on IS NOT NULL;

-- name: permit_strangers :many
-- param: names text[]
SELECT id FROM permit WHERE holder IS NULL OR holder <> ALL (:names) ORDER BY id;

-- name: permit_purge :rows
-- param: day date
DELETE FROM permit WHERE ends_on < :day OR revoked_at IS NOT NULL AND kind = 'guest';
