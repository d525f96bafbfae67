-- name: card_show :exec
INSERT OR IGNORE INTO card (fixture_id, player_id, minute, color)
SELECT :fixture, :player, :minute, :color WHERE :color IN ('yellow', 'red') AND :minute BETWEEN 1 AND 120;

-- name: card_suspended :many
SELECT player_id FROM card WHERE fixture_id = :fixture
 GROUP BY player_id HAVING max(color = 'red') OR sum(color = 'yellow') >= 2 ORDER BY player_id;

-- name: card_try :exec
INSERT OR IGNORE INTO card (fixture_id, player_id, minute, color) VALUES (:fixture, :player, :minute, 'yellow');
