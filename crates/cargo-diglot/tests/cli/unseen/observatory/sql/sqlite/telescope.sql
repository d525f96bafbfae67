-- name: telescope_filters :many
SELECT t.id, f.value AS filter FROM telescope t, json_each(t.config, '$.filters') AS f ORDER BY t.id, f.key;

-- name: telescope_tune :opt
-- param: gain i64
UPDATE telescope SET config = json_set(config, '$.gain', :gain) WHERE id = :id
RETURNING id, coalesce(json_extract(config, '$.gain'), 0) AS gain;

-- name: telescope_mount :rows
-- param: filter text
UPDATE telescope SET config = json_insert(config, '$.filters[#]', :filter) WHERE id = :id AND json_type(config, '$.filters') = 'array';

-- name: telescope_idle :many
SELECT t.id, t.site FROM telescope t
 WHERE NOT EXISTS (SELECT 1 FROM exposure e WHERE e.telescope_id = t.id AND e.taken_at >= :since) ORDER BY t.id;

-- name: telescope_by_gain :many
SELECT id, name FROM telescope WHERE json_type(config, '$.gain') IS NOT NULL ORDER BY json_extract(config, '$.gain') DESC, id;

-- name: telescope_untracked :many
SELECT id FROM telescope WHERE json_extract(config, '$.tracking') IS NULL ORDER BY id;

-- name: telescope_default :rows
UPDATE telescope SET config = json_insert(config, '$.tracking', 'sidereal') WHERE site = :site;

-- name: telescope_time :many
SELECT t.id, (SELECT coalesce(sum(e.seconds), 0) FROM exposure e WHERE e.telescope_id = t.id) AS seconds,
       (SELECT count(*) FROM night n WHERE n.telescope_id = t.id) AS nights
  FROM telescope t ORDER BY t.id;
