-- name: job_claim :many
-- param: most i64
WITH next AS (SELECT id FROM job WHERE state = 'new' AND run_at <= :now ORDER BY run_at, id LIMIT :most FOR UPDATE SKIP LOCKED)
UPDATE job j SET state = 'busy', locked_by = :worker FROM next WHERE j.id = next.id RETURNING j.id, j.tries;

-- name: job_fail :rows
UPDATE job SET state = 'new', locked_by = NULL, tries = tries + 1, run_at = :now::timestamptz + interval '1 minute' * (tries + 1)
 WHERE id = :id AND state = 'busy' AND tries < 20;

-- name: job_purge :rows
DELETE FROM job WHERE state IN ('done', 'dead') AND run_at < :now::timestamptz - interval '30 days';

-- name: job_unnamed :many
SELECT id FROM job WHERE NOT payload ? 'kind' ORDER BY id;

-- name: job_of_batch :many
-- param: batch i64
SELECT id, state FROM job WHERE (payload ->> 'batch')::bigint = :batch ORDER BY id;

-- name: job_give_up :rows
UPDATE job SET state = CASE WHEN tries > 5 THEN 'dead' ELSE 'new' END, locked_by = NULL
 WHERE state = 'busy' AND locked_by = :worker;
