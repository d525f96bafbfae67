-- name: request_claim :opt
UPDATE request SET state = 'claimed', claimed_by = :worker, claimed_at = :now, attempts = attempts + 1
 WHERE id = (SELECT id FROM request
              WHERE state = 'queued' AND attempts < 20 AND (not_before IS NULL OR not_before <= :now)
              ORDER BY priority DESC, created_at, id LIMIT 1
              FOR UPDATE SKIP LOCKED)
RETURNING id, target_id, attempts;

-- name: request_fail :opt
UPDATE request
   SET state = CASE WHEN attempts < 5 THEN 'queued' ELSE 'failed' END,
       not_before = :now::timestamptz + attempts * interval '1 minute',
       claimed_by = NULL
 WHERE id = :id AND state = 'claimed' AND claimed_by = :worker
RETURNING state, not_before;

-- name: request_retry :rows
UPDATE request SET state = 'queued' WHERE state = 'failed' AND attempts <= 5 AND observer_id = :observer;

-- name: request_release :rows
UPDATE request SET state = 'queued', claimed_at = NULL
 WHERE state = 'claimed' AND claimed_at < :now::timestamptz - interval '10 minutes';

-- name: request_queue :many
SELECT id, row_number() OVER (ORDER BY priority, created_at, id) AS place FROM request WHERE state = 'queued' ORDER BY place;
