-- name: matter_file :exec
WITH next AS (
  INSERT INTO docket AS d (court_id, year, last) VALUES (:court, :year, 1)
  ON CONFLICT (court_id, year) DO UPDATE SET last = d.last + 1
  RETURNING court_id, year, last
)
INSERT INTO matter (id, court_id, year, number, title, kind, filed_on)
SELECT :id, next.court_id, next.year, next.last, :title, 'civil', :day FROM next;

-- name: matter_list :many
-- param: kind text null
SELECT id, reference, doc ->> 'lang' AS lang FROM matter
 WHERE court_id = :court AND deleted_at IS NULL AND kind = COALESCE(:kind, kind)
 ORDER BY year DESC, number DESC;

-- name: matter_delete :exec
WITH gone AS (
  UPDATE matter SET deleted_at = :now WHERE id = :id AND deleted_at IS NULL
)
UPDATE hearing SET state = 'cancelled' WHERE matter_id = :id AND state = 'planned';

-- name: matter_plaintiffs :many
SELECT m.id, string_agg(p.name, '; ' ORDER BY p.name) AS names
  FROM matter m LEFT JOIN party p ON p.matter_id = m.id AND p.role = 'plaintiff'
 WHERE m.court_id = :court GROUP BY m.id ORDER BY m.id;

-- name: matter_age :many
-- param: day date
SELECT id, extract(year FROM age(:day::date, filed_on))::bigint AS years
  FROM matter WHERE filed_on <= :day::date AND closed_on IS NULL ORDER BY id;

-- name: matter_values :many
SELECT kind, COALESCE(sum((doc ->> 'value')::bigint), 0)::bigint AS total, count(*) FILTER (WHERE doc ? 'value') AS n
  FROM matter WHERE deleted_at IS NULL GROUP BY kind ORDER BY kind;

-- name: matter_urgent :many
SELECT id, title FROM matter WHERE court_id = :court AND doc ->> 'urgent' = 'true' ORDER BY id;

-- name: matter_serial :many
SELECT id, split_part(reference, '/', 2) AS serial FROM matter WHERE year = :year ORDER BY id;

-- name: matter_of_party :many
SELECT m.id, m.title FROM matter m
 WHERE m.court_id = :court AND m.title = :name OR EXISTS (SELECT 1 FROM party p WHERE p.matter_id = m.id AND p.name = :name)
 ORDER BY m.id;

-- name: matter_restore :rows
UPDATE matter SET deleted_at = NULL WHERE id = :id AND deleted_at > :now::timestamptz - interval '1 month';

-- name: matter_quarters :many
SELECT extract(quarter FROM filed_on)::bigint AS quarter, count(*) AS n FROM matter GROUP BY 1 ORDER BY 1;

-- name: matter_dearest :many
SELECT court_id, max(doc ->> 'value')::bigint AS value FROM matter GROUP BY court_id ORDER BY court_id;

-- name: matter_pressing :many
SELECT id FROM matter WHERE doc ->> 'urgent' = 'true' AND closed_on IS NULL ORDER BY id;

-- name: matter_close :rows
-- param: day date
UPDATE matter SET closed_on = :day
 WHERE id = :id AND closed_on IS NULL AND filed_on <= :day
   AND NOT EXISTS (SELECT 1 FROM hearing h WHERE h.matter_id = matter.id AND h.state IN ('planned', 'moved'));
