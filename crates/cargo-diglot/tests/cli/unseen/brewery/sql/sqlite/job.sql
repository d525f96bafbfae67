-- name: job_claim :many
-- param: most i64
UPDATE job SET state = 'busy', locked_by = :worker WHERE id IN (
  SELECT id FROM job WHERE state = 'new' AND run_at <= :now ORDER BY run_at, id LIMIT :most) RETURNING id, tries;

-- name: job_fail :rows
UPDATE job SET state = 'new', locked_by = NULL, tries = tries + 1, run_at = :now + 60 * tries
 WHERE id = :id AND state = 'busy' AND tries < 20;

-- name: job_purge :rows
DELETE FROM job WHERE state IN ('done', 'dead') AND run_at < :now - 30 * 86400;

-- name: job_unnamed :many
SELECT id FROM job WHERE payload ->> '$.kind' IS NULL ORDER BY id;

-- name: job_of_batch :many
-- param: batch i64
SELECT id, state FROM job WHERE payload ->> '$.batch' = :batch ORDER BY id;

-- name: job_give_up :rows
UPDATE job SET state = iif(tries >= 5, 'dead', 'new'), locked_by = NULL WHERE state = 'busy' AND locked_by = :worker;
