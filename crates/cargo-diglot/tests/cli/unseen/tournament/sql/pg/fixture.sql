-- name: fixture_result :rows
UPDATE fixture SET home_goals = :home, away_goals = :away WHERE id = :id AND home_goals IS NULL;

-- name: fixture_points :many
SELECT id, CASE sign(home_goals - away_goals) WHEN 1 THEN 3 WHEN 0 THEN 1 WHEN -1 THEN 0 END AS points FROM fixture ORDER BY id;

-- name: fixture_of_team :many
SELECT id, kickoff_at FROM fixture WHERE :team IN (home_id, away_id) ORDER BY kickoff_at, id;

-- name: fixture_soon :many
SELECT id FROM fixture WHERE kickoff_at >= now() AND kickoff_at < now() + interval '1 day' ORDER BY id;

-- name: fixture_rounds :many
SELECT round FROM fixture GROUP BY round HAVING bool_and(home_goals IS NOT NULL) ORDER BY round;

-- name: fixture_table :many
SELECT t.id AS team, sum(CASE WHEN f.home_id = t.id THEN f.home_goals ELSE f.away_goals END)::bigint AS goals
  FROM team t JOIN fixture f ON t.id IN (f.home_id, f.away_id) WHERE f.home_goals IS NOT NULL GROUP BY t.id ORDER BY t.id;

-- name: fixture_late :many
SELECT id FROM fixture WHERE extract(hour FROM kickoff_at AT TIME ZONE 'UTC') > 22 ORDER BY id;

-- name: fixture_move :rows
UPDATE fixture SET kickoff_at = date_trunc('day', kickoff_at, 'UTC') + interval '7 days' WHERE id = :id;

-- name: fixture_draws :one
SELECT count(*) AS n FROM fixture WHERE home_goals IS NOT DISTINCT FROM away_goals;

-- name: fixture_between :many
-- param: from_day date
-- param: to_day date
SELECT id FROM fixture WHERE (kickoff_at AT TIME ZONE 'UTC')::date BETWEEN :from_day AND :to_day ORDER BY id;
