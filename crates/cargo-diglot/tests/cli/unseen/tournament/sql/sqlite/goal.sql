-- name: goal_add :opt
-- param: player i64 null
INSERT INTO goal (id, fixture_id, player_id, minute, kind)
SELECT coalesce(max(id), 0) + 1, :fixture, :player, :minute, :kind FROM goal
RETURNING id;

-- name: goal_running :many
SELECT id, count(*) OVER (ORDER BY minute, id) AS nth FROM goal WHERE fixture_id = :fixture ORDER BY minute, id;

-- name: goal_halves :many
SELECT CASE WHEN minute <= 45 THEN 1 ELSE 2 END AS half, count(*) AS n FROM goal GROUP BY half ORDER BY half;

-- name: goal_fast :many
SELECT id, minute FROM goal WHERE fixture_id = :fixture ORDER BY minute, id LIMIT 2;
