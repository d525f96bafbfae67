-- name: vote_cast :rows
INSERT INTO vote (post_id, member_id, value) VALUES (:post, :member, 1) ON CONFLICT (post_id, member_id) DO NOTHING;

-- name: vote_ratio :many
SELECT post_id, 100 * count(*) FILTER (WHERE value > 0) / count(*) AS percent FROM vote GROUP BY post_id ORDER BY
  post_id;

-- name: vote_flip :rows
INSERT INTO vote (post_id, member_id, value) VALUES (:post, :member, :value) ON CONFLICT (post_id, member_id) DO
  NOTHING;

-- name: vote_balance :many
SELECT p.id, sum(v.value) AS balance FROM post p LEFT JOIN vote v ON v.post_id = p.id GROUP BY p.id ORDER BY p.id;
