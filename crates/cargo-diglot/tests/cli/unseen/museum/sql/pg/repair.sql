-- name: repair_take :opt
WITH next AS (SELECT id FROM repair WHERE stage = 'queued'
  ORDER BY urgency DESC, queued_at, id FOR UPDATE SKIP LOCKED LIMIT 1) UPDATE repair r SET stage = 'bench', worker = :worker FROM next
  WHERE r.id = next.id RETURNING r.id, r.piece_id;

-- name: repair_workers :many
SELECT worker, count(CASE stage WHEN 'done' THEN 1 END) AS done, max(hours) AS longest FROM repair GROUP BY worker ORDER BY worker NULLS FIRST;

-- name: repair_urge :rows
UPDATE repair SET urgency = LEAST(urgency, 9) + 1 WHERE stage = 'queued' AND piece_id = :piece;

-- name: repair_others :many
SELECT id FROM repair WHERE COALESCE(worker, '') <> :worker OR stage <> 'done' ORDER BY id;
