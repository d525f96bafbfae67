-- name: ban_active :many
-- param: now timestamp
SELECT DISTINCT member_id FROM ban WHERE NOT lifted AND from_at <= :now AND (until_at IS NULL OR until_at > :now) AND
  (board_slug IS NULL OR board_slug = :board) ORDER BY member_id;

-- name: ban_free :rows
UPDATE ban SET lifted = 1 WHERE lifted = 0 AND board_slug IN (SELECT slug FROM board WHERE locked = 1);

-- name: ban_review :many
SELECT id, datetime(from_at, '+1 month') AS review_at FROM ban WHERE until_at IS NULL ORDER BY id;

-- name: ban_twice :many
SELECT a.id FROM ban a JOIN ban b ON b.member_id = a.member_id AND b.id > a.id WHERE a.from_at < b.until_at AND
  b.from_at < a.until_at ORDER BY a.id, b.id;

-- name: ban_extend :rows
UPDATE ban SET until_at = max(until_at, :until) WHERE id = :id AND NOT lifted;
