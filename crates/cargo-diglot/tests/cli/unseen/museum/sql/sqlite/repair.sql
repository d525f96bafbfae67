-- name: repair_take :opt
UPDATE repair SET stage = 'bench', worker = :worker WHERE id = (SELECT id FROM repair WHERE stage = 'queued'
  ORDER BY urgency DESC, queued_at, id LIMIT 1) RETURNING id, piece_id;

-- name: repair_workers :many
SELECT worker, count(*) FILTER (WHERE stage = 'done') AS done, max(hours) AS longest FROM repair GROUP BY worker ORDER BY worker;

-- name: repair_urge :rows
UPDATE repair SET urgency = min(urgency + 1, 9) WHERE stage = 'queued' AND piece_id = :piece;

-- name: repair_others :many
SELECT id FROM repair WHERE NOT (coalesce(worker, '') = :worker OR stage = 'done') ORDER BY id;
