-- name: card_show :exec
INSERT INTO card (fixture_id, player_id, minute, color)
SELECT :fixture, :player, :minute::bigint, :color::text WHERE :color::text IN ('yellow', 'red') AND :minute::bigint BETWEEN 1 AND 120
ON CONFLICT DO NOTHING;

-- name: card_suspended :many
SELECT player_id FROM card WHERE fixture_id = :fixture
 GROUP BY player_id HAVING bool_or(color = 'red') OR count(*) FILTER (WHERE color = 'yellow') >= 2 ORDER BY player_id;

-- name: card_try :exec
INSERT INTO card (fixture_id, player_id, minute, color) VALUES (:fixture, :player, :minute, 'yellow') ON CONFLICT DO NOTHING;
