-- name: outbox_take :many
WITH due AS (
  SELECT id FROM outbox WHERE state = 'new' AND run_at <= :now AND tries < 20
   ORDER BY CASE kind WHEN 'alarm' THEN 0 ELSE 1 END, run_at, id LIMIT 2 FOR UPDATE SKIP LOCKED
)
UPDATE outbox SET state = 'sending', tries = tries + 1 WHERE id IN (SELECT id FROM due) RETURNING id, kind, tries;

-- name: outbox_fail :rows
UPDATE outbox SET state = CASE WHEN tries >= 5 THEN 'dead' ELSE 'new' END, tries = tries + 1 WHERE id = :id AND tries < 20;
