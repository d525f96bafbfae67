-- name: notice_claim :many
-- param: most i64
UPDATE notice SET state = 'sending', lease_until = :now + 60000
 WHERE id IN (SELECT id FROM notice WHERE state = 'new' AND due_at <= :now ORDER BY due_at, id LIMIT :most)
RETURNING id, recipient, tries;

-- name: notice_fail :rows
UPDATE notice
   SET tries = tries + 1, lease_until = NULL,
       state = CASE WHEN tries + 1 > 10 THEN 'dead' ELSE 'new' END,
       due_at = :now + (1 << tries) * 1000
 WHERE id = :id AND state = 'sending' AND tries < 12;

-- name: notice_states :one
-- column: counts json
SELECT json_group_object(state, n) AS counts FROM (SELECT state, count(*) AS n FROM notice GROUP BY state);

-- name: notice_expire :rows
UPDATE notice SET state = 'new', lease_until = NULL WHERE state = 'sending' AND lease_until < :now;

-- name: notice_sent :rows
UPDATE notice SET state = 'sent', sent_at = :now WHERE id = :id AND state = 'sending';

-- name: notice_keep :rows
DELETE FROM notice WHERE id NOT IN (SELECT id FROM notice ORDER BY sent_at DESC, id DESC LIMIT 3);

-- name: notice_cards :many
-- column: card json
SELECT id, json_object('to', recipient, 'sent', sent_at IS NOT NULL) AS card FROM notice ORDER BY id;
