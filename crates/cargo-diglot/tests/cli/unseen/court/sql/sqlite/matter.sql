-- name: matter_file :exec
INSERT INTO docket (court_id, year, last) VALUES (:court, :year, 1)
ON CONFLICT (court_id, year) DO UPDATE SET last = last + 1;
INSERT INTO matter (id, court_id, year, number, title, kind, filed_on)
SELECT :id, d.court_id, d.year, d.last, :title, 'civil', :day FROM docket d WHERE d.court_id = :court AND d.year = :year;

-- name: matter_list :many
-- param: kind text null
SELECT id, reference, json_extract(doc, '$.lang') AS lang FROM matter
 WHERE court_id = :court AND deleted_at IS NULL AND (:kind IS NULL OR kind = :kind)
 ORDER BY year DESC, number DESC;

-- name: matter_delete :exec
UPDATE matter SET deleted_at = :now WHERE id = :id AND deleted_at IS NULL;
UPDATE hearing SET state = 'cancelled' WHERE matter_id = :id AND state = 'planned';

-- name: matter_plaintiffs :many
SELECT m.id, (SELECT group_concat(name, '; ') FROM (
         SELECT p.name FROM party p WHERE p.matter_id = m.id AND p.role = 'plaintiff' ORDER BY p.name)) AS names
  FROM matter m WHERE m.court_id = :court ORDER BY m.id;

-- name: matter_age :many
-- param: day date
SELECT id, CAST(strftime('%Y', :day) AS INTEGER) - CAST(strftime('%Y', filed_on) AS INTEGER)
           - (strftime('%m-%d', :day) < strftime('%m-%d', filed_on)) AS years
  FROM matter WHERE filed_on <= :day AND closed_on IS NULL ORDER BY id;

-- name: matter_values :many
SELECT kind, coalesce(sum(json_extract(doc, '$.value')), 0) AS total, count(json_extract(doc, '$.value')) AS n
  FROM matter WHERE deleted_at IS NULL GROUP BY kind ORDER BY kind;

-- name: matter_urgent :many
SELECT id, title FROM matter WHERE court_id = :court AND doc ->> '$.urgent' = 1 ORDER BY id;

-- name: matter_serial :many
SELECT id, substr(reference, instr(reference, '/') + 1) AS serial FROM matter WHERE year = :year ORDER BY id;

-- name: matter_of_party :many
SELECT m.id, m.title FROM matter m
 WHERE m.court_id = :court AND (m.title = :name OR EXISTS (SELECT 1 FROM party p WHERE p.matter_id = m.id AND p.name = :name))
 ORDER BY m.id;

-- name: matter_restore :rows
UPDATE matter SET deleted_at = NULL WHERE id = :id AND deleted_at > :now - 30 * 86400000;

-- name: matter_quarters :many
SELECT CAST(strftime('%m', filed_on) AS INTEGER) / 3 + 1 AS quarter, count(*) AS n FROM matter GROUP BY quarter ORDER BY quarter;

-- name: matter_dearest :many
SELECT court_id, max(json_extract(doc, '$.value')) AS value FROM matter GROUP BY court_id ORDER BY court_id;

-- name: matter_pressing :many
SELECT id FROM matter WHERE json_extract(doc, '$.urgent') = 'true' AND closed_on IS NULL ORDER BY id;

-- name: matter_close :rows
-- param: day date
UPDATE matter SET closed_on = :day
 WHERE id = :id AND closed_on IS NULL AND filed_on <= :day
   AND NOT EXISTS (SELECT 1 FROM hearing h WHERE h.matter_id = matter.id AND h.state = 'planned');
