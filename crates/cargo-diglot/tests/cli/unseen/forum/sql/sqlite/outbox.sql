-- name: outbox_due :many
-- param: now timestamp
SELECT id, event, body FROM outbox WHERE done_at IS NULL AND next_at <= :now AND tries < 5 ORDER BY next_at, id LIMIT
  50;

-- name: outbox_retry :rows
-- param: error text
UPDATE outbox SET tries = tries + 1, next_at = :now + 60 * (tries + 1), error = substr(:error, 1, 40) WHERE id = :id
  AND done_at IS NULL AND tries < 5;

-- name: outbox_topics :many
SELECT DISTINCT body ->> '$.topic' AS topic FROM outbox WHERE done_at IS NULL AND json_extract(body, '$.topic') IS NOT
  NULL ORDER BY topic;

-- name: outbox_claim :many
-- param: now timestamp
UPDATE outbox SET tries = tries + 1 WHERE id IN (SELECT id FROM outbox WHERE done_at IS NULL AND next_at <= :now AND
  tries < 100 ORDER BY next_at, id LIMIT 2) RETURNING id;

-- name: outbox_backoff :rows
UPDATE outbox SET next_at = :now + min(3600, 120 * tries) WHERE id = :id AND done_at IS NULL;

-- name: outbox_posts :many
SELECT id FROM outbox WHERE event LIKE 'post_%' AND event = lower(event) ORDER BY id;
