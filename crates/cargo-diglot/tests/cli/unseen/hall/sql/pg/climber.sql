-- name: climber_badge :rows
-- param: badge text
UPDATE climber SET card = jsonb_set(card, '{badges}', (card -> 'badges') || jsonb_build_array(:badge::text))
 WHERE id = :id AND NOT card -> 'badges' @> jsonb_build_array(:badge::text);

-- name: climber_quarters :many
SELECT id, ntile(4) OVER w AS quarter FROM climber WHERE left_at IS NULL WINDOW w AS (ORDER BY cents ASC, id ASC) ORDER BY id;

-- name: climber_decorated :many
SELECT id FROM climber WHERE card ? 'badges' ORDER BY id;

-- name: climber_minors :many
-- param: day date
SELECT id FROM climber WHERE born > :day::date - interval '18 years' ORDER BY id;
