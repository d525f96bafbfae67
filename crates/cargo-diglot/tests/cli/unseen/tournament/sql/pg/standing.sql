-- name: standing_count :rows
INSERT INTO standing AS s (team_id, played, points, balance) VALUES (:team, 1, :points, :balance)
ON CONFLICT (team_id) DO UPDATE SET played = s.played + 1, points = s.points + EXCLUDED.points, balance = s.balance + EXCLUDED.balance;

-- name: standing_average :many
SELECT team_id, points::double precision / played AS points FROM standing WHERE played > 0 ORDER BY team_id;

-- name: standing_leader :opt
SELECT team_id FROM standing ORDER BY points DESC, team_id LIMIT 1;
