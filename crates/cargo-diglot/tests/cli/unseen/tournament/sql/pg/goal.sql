-- name: goal_add :opt
-- param: player i64 null
INSERT INTO goal (id, fixture_id, player_id, minute, kind)
SELECT COALESCE(max(id), 0) + 1, :fixture, :player, :minute, :kind FROM goal
RETURNING id;

-- name: goal_running :many
SELECT g.id, (SELECT count(*) FROM goal o WHERE o.fixture_id = g.fixture_id AND (o.minute, o.id) <= (g.minute, g.id)) AS nth
  FROM goal g WHERE g.fixture_id = :fixture ORDER BY g.minute, g.id;

-- name: goal_halves :many
SELECT CASE WHEN minute < 45 THEN 1 ELSE 2 END AS half, count(*) AS n FROM goal GROUP BY 1 ORDER BY 1;

-- name: goal_fast :many
SELECT id, minute FROM (SELECT id, minute, rank() OVER (ORDER BY minute) AS place FROM goal WHERE fixture_id = :fixture) AS g
 WHERE place <= 2 ORDER BY minute, id;
