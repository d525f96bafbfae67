-- name: chat_say :opt
INSERT INTO chat (room, seq, member_id, body, sent_at) SELECT :room, ifnull(max(seq), 0) + 1, :member, :body, :now
  FROM chat WHERE room = :room RETURNING seq;

-- name: chat_unread :many
SELECT r.room, (SELECT count(*) FROM chat c WHERE c.room = r.room AND c.seq > r.seq) AS n FROM chat_read r WHERE
  r.member_id = :member ORDER BY r.room;

-- name: chat_mark :rows
INSERT INTO chat_read (room, member_id, seq) VALUES (:room, :member, :seq) ON CONFLICT (room, member_id) DO UPDATE SET
  seq = excluded.seq WHERE excluded.seq > seq;

-- name: chat_pauses :many
SELECT room, seq FROM (SELECT room, seq, sent_at - lag(sent_at) OVER (PARTITION BY room ORDER BY seq) AS pause FROM
  chat) WHERE pause > 600000 ORDER BY room, seq;

-- name: chat_tail :many
SELECT seq, body FROM (SELECT seq, body FROM chat WHERE room = :room ORDER BY seq DESC LIMIT 3) ORDER BY seq;

-- name: chat_last :many
SELECT room, body, max(seq) AS seq FROM chat GROUP BY room ORDER BY room;

-- name: chat_days :many
SELECT room, seq, sent_at / 86400000 AS day FROM chat ORDER BY room, seq;

-- name: chat_trim :rows
-- param: keep i64
DELETE FROM chat WHERE room = :room AND seq <= (SELECT max(seq) FROM chat WHERE room = :room) - :keep;
