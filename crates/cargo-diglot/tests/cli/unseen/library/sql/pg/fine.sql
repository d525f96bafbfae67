-- name: fine_total :one
SELECT COALESCE(sum(cents), 0)::bigint AS cents FROM fine WHERE member_id = :member AND NOT paid;

-- name: fine_label :many
SELECT id, (cents / 100)::text || '.' || lpad((cents % 100)::text, 2, '0') AS label FROM fine WHERE cents >= 0 ORDER BY id;

-- name: fine_average :many
SELECT member_id, (sum(cents) / count(*))::bigint AS cents FROM fine GROUP BY member_id ORDER BY member_id;

-- name: fine_top :many
SELECT cents FROM fine ORDER BY cents DESC FETCH FIRST 2 ROWS WITH TIES;

-- name: fine_settle :rows
UPDATE fine SET paid = true WHERE member_id = :member AND NOT paid;
