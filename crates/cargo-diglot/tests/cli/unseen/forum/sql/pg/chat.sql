-- name: chat_say :opt
INSERT INTO chat (room, seq, member_id, body, sent_at) VALUES (:room, 1 + COALESCE((SELECT max(c.seq) FROM chat c
  WHERE c.room = :room), 0), :member, :body, :now) RETURNING seq;

-- name: chat_unread :many
SELECT r.room, count(c.seq) AS n FROM chat_read r LEFT JOIN chat c ON c.room = r.room AND c.seq > r.seq WHERE
  r.member_id = :member GROUP BY r.room ORDER BY r.room;

-- name: chat_mark :rows
INSERT INTO chat_read AS r (room, member_id, seq) VALUES (:room, :member, :seq) ON CONFLICT (room, member_id) DO
  UPDATE SET seq = EXCLUDED.seq WHERE r.seq < EXCLUDED.seq;

-- name: chat_pauses :many
SELECT c.room, c.seq FROM chat c JOIN LATERAL (SELECT p.sent_at FROM chat p WHERE p.room = c.room AND p.seq < c.seq
  ORDER BY p.seq DESC LIMIT 1) b ON true WHERE c.sent_at > b.sent_at + interval '10 minutes' ORDER BY c.room, c.seq;

-- name: chat_tail :many
SELECT c.seq, c.body FROM chat c WHERE c.room = :room AND (SELECT count(*) FROM chat o WHERE o.room = :room AND o.seq
  > c.seq) < 3 ORDER BY c.seq;

-- name: chat_last :many
SELECT DISTINCT ON (room) room, body, seq FROM chat ORDER BY room, sent_at DESC, seq DESC;

-- name: chat_days :many
SELECT room, seq, (extract(epoch FROM sent_at) / 86400)::bigint AS day FROM chat ORDER BY room, seq;

-- name: chat_trim :rows
-- param: keep i64
DELETE FROM chat WHERE room = :room AND seq < (SELECT max(c.seq) FROM chat c WHERE c.room = :room) - :keep;
