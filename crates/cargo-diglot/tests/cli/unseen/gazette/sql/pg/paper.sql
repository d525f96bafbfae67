-- name: paper_span :many
-- param: year i32
SELECT id, CASE WHEN closed IS NULL THEN :year ELSE closed END - founded AS years FROM paper WHERE founded <= :year ORDER BY id;

-- name: paper_issues :many
SELECT p.id, COALESCE(x.list, '[]') AS issues FROM paper p LEFT JOIN LATERAL (
  SELECT jsonb_agg(jsonb_build_object('number', number, 'pages', pages) ORDER BY number) AS list FROM issue WHERE paper_id = p.id AND NOT withdrawn
) x ON true ORDER BY p.id;

-- name: paper_alive :many
-- param: year i32
SELECT id, title FROM paper WHERE founded <= :year AND closed >= :year ORDER BY id;

-- name: paper_dailies :many
SELECT id FROM paper WHERE COALESCE((meta ->> 'daily')::boolean, false) ORDER BY id;

-- name: paper_translate :rows
UPDATE paper SET meta = jsonb_set(meta, '{language}', to_jsonb(:language::text), false) WHERE id = :id;
