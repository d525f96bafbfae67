-- name: vote_cast :rows
INSERT INTO vote (post_id, member_id, value) SELECT :post, :member, 1 WHERE NOT EXISTS (SELECT 1 FROM vote WHERE
  post_id = :post AND member_id = :member);

-- name: vote_ratio :many
SELECT post_id, 100 * sum(value = 1) / count(*) AS percent FROM vote GROUP BY post_id ORDER BY post_id;

-- name: vote_flip :rows
INSERT INTO vote (post_id, member_id, value) VALUES (:post, :member, :value) ON CONFLICT (post_id, member_id) DO
  UPDATE SET value = excluded.value;

-- name: vote_balance :many
SELECT p.id, ifnull(sum(v.value), 0) AS balance FROM post p LEFT JOIN vote v ON v.post_id = p.id GROUP BY p.id ORDER
  BY p.id;
