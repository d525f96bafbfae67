-- name: player_young :many
-- param: day date
SELECT id FROM player WHERE born_on > date(:day, '-90 days') ORDER BY id;

-- name: player_transfer :rows
UPDATE player SET team_id = :to_team, captain = 0
 WHERE team_id = :from_team AND number NOT IN (SELECT number FROM player WHERE team_id = :to_team);

-- name: player_scorers :many
SELECT player_id, count(*) AS goals, rank() OVER (ORDER BY count(*) DESC) AS place
  FROM goal WHERE player_id IS NOT NULL AND kind <> 'own' GROUP BY player_id ORDER BY place, player_id;

-- name: player_captains :many
SELECT t.id, p.name FROM team t LEFT JOIN player p ON p.team_id = t.id AND p.captain ORDER BY t.id, p.id;

-- name: player_free :rows
DELETE FROM player WHERE team_id IS NULL AND id NOT IN (SELECT player_id FROM goal WHERE player_id IS NOT NULL);

-- name: player_silent :many
SELECT id FROM player WHERE id NOT IN (SELECT player_id FROM goal) ORDER BY id;

-- name: player_name :many
SELECT id, upper(substr(name, 1, 3)) AS short FROM player ORDER BY id;
