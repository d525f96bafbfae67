-- What makes the index of a statement beside those who write: for each table with rows that lacks it, the table itself or its
-- partitions, the statements in their order. What a try left behind that did not come to its end goes first. Nothing for a
-- statement that does anything else.
WITH given AS (
  SELECT found.words[1] AS index_name, found.words[2] AS table_name, found.words[3] AS shape
    FROM regexp_match($1, '^CREATE INDEX IF NOT EXISTS ([a-z0-9_]+)\s+ON ([a-z0-9_]+)(.*)$') AS found(words)
),
whole AS (
  SELECT held.oid, held.relkind, held.relnamespace, given.index_name, given.shape
    FROM given
    JOIN pg_class AS held ON held.oid = to_regclass(given.table_name)
),
part AS (
  SELECT whole.oid, whole.index_name, whole.shape FROM whole WHERE whole.relkind = 'r'
  UNION ALL
  SELECT leaf.oid, concat(leaf.relname, '_', left(whole.index_name, 62 - length(leaf.relname))), whole.shape
    FROM whole
   CROSS JOIN pg_partition_tree(whole.oid) AS tree
    JOIN pg_class AS leaf ON leaf.oid = tree.relid AND leaf.relkind = 'r'
   WHERE whole.relkind = 'p' AND tree.isleaf
     AND NOT EXISTS (SELECT 1 FROM pg_class AS made
                      WHERE made.relnamespace = whole.relnamespace AND made.relname = whole.index_name)
)
SELECT step.statement
  FROM part
  JOIN pg_class AS held ON held.oid = part.oid
  LEFT JOIN pg_class AS made ON made.relnamespace = held.relnamespace AND made.relname = part.index_name
  LEFT JOIN pg_index AS kept ON kept.indexrelid = made.oid
 CROSS JOIN LATERAL (
   VALUES (1, 'DROP INDEX CONCURRENTLY IF EXISTS ' || CAST(CAST(kept.indexrelid AS regclass) AS text)),
          (2, format('CREATE INDEX CONCURRENTLY %I ON %s%s', part.index_name, CAST(part.oid AS regclass), part.shape))
 ) AS step(place, statement)
 WHERE pg_relation_size(part.oid) > 0 AND kept.indisvalid IS NOT TRUE AND step.statement IS NOT NULL
 ORDER BY part.oid, step.place
