-- name: outbox_due :many
-- param: now timestamp
SELECT id, event, body FROM outbox WHERE done_at IS NULL AND NOT next_at > :now AND tries <= 4 ORDER BY next_at, id
  LIMIT 50;

-- name: outbox_retry :rows
-- param: error text
UPDATE outbox SET tries = tries + 1, next_at = :now::timestamptz + make_interval(mins => tries + 1), error =
  left(:error, 40) WHERE id = :id AND done_at IS NULL AND tries < 5;

-- name: outbox_topics :many
SELECT (body ->> 'topic')::bigint AS topic FROM outbox WHERE done_at IS NULL AND body ->> 'topic' IS NOT NULL GROUP BY
  1 ORDER BY 1;

-- name: outbox_claim :many
-- param: now timestamp
UPDATE outbox SET tries = tries + 1 WHERE id IN (SELECT id FROM outbox WHERE done_at IS NULL AND next_at <= :now AND
  tries < 100 ORDER BY id LIMIT 2) RETURNING id;

-- name: outbox_backoff :rows
UPDATE outbox SET next_at = :now::timestamptz + interval '2 minutes' * tries WHERE id = :id AND done_at IS NULL;

-- name: outbox_posts :many
SELECT id FROM outbox WHERE starts_with(event, 'post_') AND event = lower(event) ORDER BY id;
