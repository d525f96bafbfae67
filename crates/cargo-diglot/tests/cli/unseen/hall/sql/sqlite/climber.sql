-- name: climber_badge :rows
-- param: badge text
UPDATE climber SET card = json_insert(card, '$.badges[#]', :badge)
 WHERE id = :id AND NOT EXISTS (SELECT 1 FROM json_each(climber.card, '$.badges') b WHERE b.value = :badge);

-- name: climber_quarters :many
SELECT id, ntile(4) OVER (ORDER BY cents, id) AS quarter FROM climber WHERE left_at IS NULL ORDER BY id;

-- name: climber_decorated :many
SELECT id FROM climber WHERE json_array_length(card, '$.badges') > 0 ORDER BY id;

-- name: climber_minors :many
-- param: day date
SELECT id FROM climber WHERE born > date(:day, '-18 years') ORDER BY id;
