-- name: ban_active :many
-- param: now timestamp
SELECT member_id FROM ban WHERE lifted = false AND :now >= from_at AND COALESCE(until_at, 'infinity') > :now AND
  COALESCE(board_slug, :board) = :board GROUP BY member_id ORDER BY member_id;

-- name: ban_free :rows
UPDATE ban b SET lifted = true FROM board o WHERE o.slug = b.board_slug AND o.locked AND NOT b.lifted;

-- name: ban_review :many
SELECT id, from_at + interval '1 month' AS review_at FROM ban WHERE until_at IS NULL ORDER BY id;

-- name: ban_twice :many
SELECT a.id FROM ban a JOIN ban b ON b.member_id = a.member_id AND b.id > a.id WHERE a.from_at <= b.until_at AND
  b.from_at < a.until_at ORDER BY a.id, b.id;

-- name: ban_extend :rows
UPDATE ban SET until_at = GREATEST(until_at, :until) WHERE id = :id AND NOT lifted;
