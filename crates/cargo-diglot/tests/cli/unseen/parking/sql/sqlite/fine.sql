-- name: fine_overdue :many
-- param: days i32
SELECT id, plate FROM fine WHERE paid_at IS NULL AND issued_at < :now - :days * 86400 ORDER BY issued_at, id;

-- name: fine_noted :many
SELECT id, trim(note) AS note FROM fine WHERE trim(coalesce(note, '')) <> '' ORDER BY id;

-- name: fine_pay :opt
UPDATE fine SET paid_at = :now WHERE id = :id AND paid_at IS NULL RETURNING plate, cents;

-- name: fine_halve :rows
UPDATE fine SET cents = CAST(cents * 0.5 AS INTEGER) WHERE plate = :plate AND paid_at IS NULL;

-- name: fine_dearest :many
SELECT id, cents FROM fine WHERE paid_at IS NULL ORDER BY cents DESC LIMIT 3;
