-- name: holder_labelled :many
-- param: label text
SELECT id FROM holder WHERE :label = ANY(labels) ORDER BY id;

-- name: holder_any :many
-- param: labels text[]
SELECT id FROM holder WHERE labels && :labels ORDER BY id;

-- name: holder_label :rows
-- param: label text
UPDATE holder SET labels = array_append(labels, :label) WHERE id = :id AND :label <> ALL(labels);

-- name: holder_names :many
SELECT id, CASE WHEN btrim(nick) <> '' THEN btrim(nick) ELSE name END AS shown FROM holder ORDER BY id;

-- name: holder_remove :rows
DELETE FROM holder h WHERE h.id = :id AND h.id NOT IN (SELECT a.holder_id FROM account a WHERE a.id IN (SELECT account_id FROM entry));

-- name: holder_save :rows
-- param: kind text
INSERT INTO holder AS h (id, name, kind, since_at) VALUES (:id, :name, :kind::holder_kind, :now)
  ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name WHERE h.name IS DISTINCT FROM EXCLUDED.name;

-- name: holder_sums :many
SELECT holder_id AS id, currency, sum(balance) AS balance FROM account WHERE holder_id IN (SELECT id FROM holder WHERE active) GROUP BY 1, 2
  ORDER BY 1, 2;

-- name: holder_kinds :many
SELECT kind, count(*) AS n FROM holder GROUP BY kind ORDER BY kind;

-- name: holder_first :many
SELECT id, labels[0] AS label FROM holder ORDER BY id;

-- name: holder_nicks :many
SELECT id, ltrim(nick) AS nick FROM holder WHERE nick IS NOT NULL ORDER BY id;

-- name: holder_sorted :many
SELECT id, name FROM holder ORDER BY name, id;

-- name: holder_idle :rows
UPDATE holder SET active = false WHERE NOT EXISTS (SELECT 1 FROM account a WHERE a.holder_id = holder.id);
