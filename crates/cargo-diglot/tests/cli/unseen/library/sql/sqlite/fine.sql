-- name: fine_total :one
SELECT CAST(total(cents) AS INTEGER) AS cents FROM fine WHERE member_id = :member AND NOT paid;

-- name: fine_label :many
SELECT id, printf('%d.%02d', cents / 100, cents % 100) AS label FROM fine WHERE cents >= 0 ORDER BY id;

-- name: fine_average :many
SELECT member_id, sum(cents) / count(*) AS cents FROM fine GROUP BY member_id ORDER BY member_id;

-- name: fine_top :many
SELECT cents FROM fine ORDER BY cents DESC LIMIT 2;

-- name: fine_settle :rows
UPDATE fine SET paid = 1 WHERE member_id = :member AND paid = 0 AND cents > 0;
