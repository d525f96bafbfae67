-- name: subscription_end :rows
DELETE FROM subscription WHERE listener_id = :listener AND show_id = :show;

-- name: subscription_raise :rows
INSERT INTO subscription AS s (listener_id, show_id, since_on, level, muted) VALUES (:listener, :show, :since, :level, false)
ON CONFLICT (listener_id, show_id) DO UPDATE SET level = EXCLUDED.level
 WHERE EXCLUDED.level > s.level;

-- name: subscription_audience :many
SELECT show_id, count(*) AS n FROM subscription GROUP BY show_id ORDER BY show_id;

-- name: subscription_place :many
SELECT listener_id, show_id, dense_rank() OVER (ORDER BY level DESC) AS place FROM subscription ORDER BY listener_id, show_id;
