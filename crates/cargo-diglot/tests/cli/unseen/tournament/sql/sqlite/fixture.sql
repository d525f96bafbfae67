-- name: fixture_result :rows
UPDATE fixture SET home_goals = :home, away_goals = :away WHERE id = :id AND home_goals IS NULL;

-- name: fixture_points :many
SELECT id, CASE WHEN home_goals > away_goals THEN 3 WHEN home_goals = away_goals THEN 1 WHEN home_goals < away_goals THEN 0 END AS points
  FROM fixture ORDER BY id;

-- name: fixture_of_team :many
SELECT id, kickoff_at FROM fixture WHERE home_id = :team OR away_id = :team ORDER BY kickoff_at, id;

-- name: fixture_soon :many
SELECT id FROM fixture WHERE kickoff_at >= datetime('now') AND kickoff_at < datetime('now', '+1 day') ORDER BY id;

-- name: fixture_rounds :many
SELECT round FROM fixture GROUP BY round HAVING count(*) = count(home_goals) ORDER BY round;

-- name: fixture_table :many
SELECT team, sum(goals) AS goals FROM (
  SELECT home_id AS team, home_goals AS goals FROM fixture WHERE home_goals IS NOT NULL
  UNION ALL SELECT away_id, away_goals FROM fixture WHERE away_goals IS NOT NULL
) GROUP BY team ORDER BY team;

-- name: fixture_late :many
SELECT id FROM fixture WHERE strftime('%H', kickoff_at) >= '22' ORDER BY id;

-- name: fixture_move :rows
UPDATE fixture SET kickoff_at = datetime(kickoff_at, '+7 days') WHERE id = :id;

-- name: fixture_draws :one
SELECT count(*) AS n FROM fixture WHERE home_goals = away_goals;

-- name: fixture_between :many
-- param: from_day date
-- param: to_day date
SELECT id FROM fixture WHERE kickoff_at BETWEEN :from_day AND :to_day ORDER BY id;
