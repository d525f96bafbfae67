-- name: scan_claim :opt
WITH next AS (
  SELECT id FROM scan WHERE state = 'new' AND NOT due_at > :now AND tries < 50 ORDER BY priority DESC, due_at ASC, id ASC LIMIT 1
  FOR UPDATE SKIP LOCKED
)
UPDATE scan s SET state = 'busy', worker = :worker, tries = s.tries + 1 FROM next WHERE s.id = next.id RETURNING s.id, s.page, s.tries;

-- name: scan_blurred :many
SELECT paper_id, number, count(*) FILTER (WHERE quality < 0.5) AS blurred FROM scan GROUP BY paper_id, number ORDER BY paper_id, number;

-- name: scan_retry :rows
UPDATE scan SET state = 'new', worker = NULL, due_at = :now::timestamptz + interval '1 minute' * (1 << LEAST(tries, 6))
 WHERE id = :id AND state = 'busy';

-- name: scan_release :rows
UPDATE scan SET state = 'new', worker = NULL WHERE state = 'busy' AND due_at < :now::timestamptz - interval '10 seconds';

-- name: scan_progress :many
SELECT state, count(quality) AS n FROM scan WHERE paper_id = :paper GROUP BY state ORDER BY state;

-- name: scan_grade :many
SELECT id, round(quality * 10)::bigint AS grade FROM scan WHERE quality IS NOT NULL ORDER BY id;
