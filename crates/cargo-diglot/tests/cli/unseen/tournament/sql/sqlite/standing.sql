-- name: standing_count :rows
INSERT INTO standing (team_id, played, points, balance) VALUES (:team, 1, :points, :balance)
ON CONFLICT (team_id) DO UPDATE SET played = played + 1, points = points + excluded.points, balance = balance + excluded.balance;

-- name: standing_average :many
SELECT team_id, points / played AS points FROM standing WHERE played > 0 ORDER BY team_id;

-- name: standing_leader :opt
SELECT team_id FROM standing ORDER BY points DESC, balance DESC, team_id LIMIT 1;
