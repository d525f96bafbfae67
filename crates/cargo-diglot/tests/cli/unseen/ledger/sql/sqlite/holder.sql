-- name: holder_labelled :many
-- param: label text
SELECT id FROM holder WHERE :label IN (SELECT value FROM json_each(holder.labels)) ORDER BY id;

-- name: holder_any :many
-- param: labels text[]
SELECT id FROM holder WHERE EXISTS (SELECT 1 FROM json_each(holder.labels) l JOIN json_each(:labels) w ON w.value = l.value) ORDER BY id;

-- name: holder_label :rows
-- param: label text
UPDATE holder SET labels = json_insert(labels, '$[#]', :label) WHERE id = :id AND NOT EXISTS (SELECT 1 FROM json_each(holder.labels)
  WHERE value = :label);

-- name: holder_names :many
SELECT id, coalesce(nullif(trim(nick), ''), name) AS shown FROM holder ORDER BY id;

-- name: holder_remove :rows
DELETE FROM holder WHERE id = :id AND NOT EXISTS (SELECT 1 FROM account a JOIN entry e ON e.account_id = a.id WHERE a.holder_id = holder.id);

-- name: holder_save :rows
-- param: kind text
INSERT INTO holder (id, name, kind, since_at) VALUES (:id, :name, :kind, :now) ON CONFLICT (id) DO UPDATE SET name = excluded.name
  WHERE name <> excluded.name;

-- name: holder_sums :many
SELECT h.id, a.currency, sum(a.balance) AS balance FROM holder h JOIN account a ON a.holder_id = h.id
  WHERE h.active GROUP BY h.id, a.currency ORDER BY h.id, a.currency;

-- name: holder_kinds :many
SELECT kind, count(*) AS n FROM holder GROUP BY kind ORDER BY kind;

-- name: holder_first :many
SELECT id, labels ->> '$[0]' AS label FROM holder ORDER BY id;

-- name: holder_nicks :many
SELECT id, trim(nick) AS nick FROM holder WHERE nick IS NOT NULL ORDER BY id;

-- name: holder_sorted :many
SELECT id, name FROM holder ORDER BY name COLLATE NOCASE, id;

-- name: holder_idle :rows
UPDATE holder SET active = 0 WHERE NOT EXISTS (SELECT 1 FROM account a WHERE a.holder_id = holder.id AND a.closed_at IS NULL);
