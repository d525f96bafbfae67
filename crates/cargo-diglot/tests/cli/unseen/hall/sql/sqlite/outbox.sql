-- name: outbox_take :many
UPDATE outbox SET state = 'sending', tries = tries + 1 WHERE id IN (
  SELECT id FROM outbox WHERE state = 'new' AND run_at <= :now AND tries < 20 ORDER BY kind = 'alarm' DESC, run_at, id LIMIT 2)
RETURNING id, kind, tries;

-- name: outbox_fail :rows
UPDATE outbox SET state = CASE WHEN tries + 1 >= 5 THEN 'dead' ELSE 'new' END, tries = tries + 1 WHERE id = :id AND tries < 20;
