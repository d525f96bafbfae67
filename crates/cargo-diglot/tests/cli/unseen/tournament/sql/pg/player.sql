-- name: player_young :many
-- param: day date
SELECT id FROM player WHERE born_on > :day::date - 90 ORDER BY id;

-- name: player_transfer :rows
UPDATE player p SET team_id = :to_team, captain = false
 WHERE p.team_id = :from_team AND NOT EXISTS (SELECT 1 FROM player o WHERE o.team_id = :to_team AND o.number = p.number);

-- name: player_scorers :many
SELECT s.player_id, s.goals, rank() OVER (ORDER BY s.goals DESC) AS place
  FROM (SELECT player_id, count(*) AS goals FROM goal WHERE player_id IS NOT NULL AND kind IN ('open', 'penalty') GROUP BY player_id) AS s
 ORDER BY place, s.player_id;

-- name: player_captains :many
SELECT t.id, p.name FROM team t LEFT JOIN player p ON p.team_id = t.id ORDER BY t.id, p.id;

-- name: player_free :rows
DELETE FROM player WHERE id NOT IN (SELECT player_id FROM goal WHERE player_id IS NOT NULL);

-- name: player_silent :many
SELECT p.id FROM player p WHERE NOT EXISTS (SELECT 1 FROM goal g WHERE g.player_id = p.id) ORDER BY p.id;

-- name: player_name :many
SELECT id, upper(left(name, 2)) AS short FROM player ORDER BY id;
