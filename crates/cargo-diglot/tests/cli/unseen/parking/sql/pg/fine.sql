-- name: fine_overdue :many
-- param: days i32
SELECT id, plate FROM fine WHERE paid_at IS NULL AND issued_at < :now::timestamptz - make_interval(days => :days) ORDER BY issued_at, id;

-- name: fine_noted :many
SELECT id, btrim(note) AS note FROM fine WHERE length(btrim(note)) > 0 ORDER BY id;

-- name: fine_pay :opt
UPDATE fine SET paid_at = :now WHERE id = :id RETURNING plate, cents;

-- name: fine_halve :rows
UPDATE fine SET cents = CAST(cents * 0.5 AS bigint) WHERE plate = :plate AND paid_at IS NULL;

-- name: fine_dearest :many
SELECT id, cents FROM fine WHERE paid_at IS NULL ORDER BY cents DESC FETCH FIRST 3 ROWS WITH TIES;
