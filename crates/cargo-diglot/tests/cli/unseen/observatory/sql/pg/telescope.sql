-- name: telescope_filters :many
SELECT t.id, f.filter
  FROM telescope t CROSS JOIN LATERAL jsonb_array_elements_text(t.config -> 'filters') WITH ORDINALITY AS f (filter, n)
 ORDER BY t.id, f.n;

-- name: telescope_tune :opt
-- param: gain i64
UPDATE telescope SET config = jsonb_set(config, '{gain}', to_jsonb(:gain::bigint)) WHERE id = :id
RETURNING id, COALESCE((config ->> 'gain')::bigint, 0) AS gain;

-- name: telescope_mount :rows
-- param: filter text
UPDATE telescope SET config = jsonb_set(config, '{filters}', (config -> 'filters') || to_jsonb(:filter::text))
 WHERE id = :id AND config ? 'filters';

-- name: telescope_idle :many
SELECT t.id, t.site FROM telescope t LEFT JOIN exposure e ON e.telescope_id = t.id AND e.taken_at >= :since
 WHERE e.id IS NULL ORDER BY t.id;

-- name: telescope_by_gain :many
SELECT id, name FROM telescope WHERE config ? 'gain' ORDER BY config ->> 'gain' DESC, id;

-- name: telescope_untracked :many
SELECT id FROM telescope WHERE NOT config ? 'tracking' ORDER BY id;

-- name: telescope_default :rows
UPDATE telescope SET config = jsonb_set(config, '{tracking}', '"sidereal"') WHERE site = :site;

-- name: telescope_time :many
SELECT t.id, COALESCE(sum(e.seconds), 0)::bigint AS seconds, count(DISTINCT n.night_on) AS nights
  FROM telescope t LEFT JOIN exposure e ON e.telescope_id = t.id LEFT JOIN night n ON n.telescope_id = t.id
 GROUP BY t.id ORDER BY t.id;
