-- name: scan_claim :opt
UPDATE scan SET state = 'busy', worker = :worker, tries = tries + 1
 WHERE id = (SELECT id FROM scan WHERE state = 'new' AND due_at <= :now AND tries < 50 ORDER BY priority DESC, due_at, id LIMIT 1)
RETURNING id, page, tries;

-- name: scan_blurred :many
SELECT paper_id, number, CAST(total(quality < 0.5) AS INTEGER) AS blurred FROM scan GROUP BY paper_id, number ORDER BY paper_id, number;

-- name: scan_retry :rows
UPDATE scan SET state = 'new', worker = NULL, due_at = :now + 60 * (1 << min(tries, 6)) WHERE id = :id AND state = 'busy';

-- name: scan_release :rows
UPDATE scan SET state = 'new', worker = NULL WHERE state = 'busy' AND due_at < :now - 600;

-- name: scan_progress :many
SELECT state, count(*) AS n FROM scan WHERE paper_id = :paper GROUP BY state ORDER BY state;

-- name: scan_grade :many
SELECT id, CAST(round(quality * 10) AS INTEGER) AS grade FROM scan WHERE quality IS NOT NULL ORDER BY id;
