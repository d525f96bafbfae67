-- name: subscription_end :rows
DELETE FROM subscription WHERE listener_id = :listener AND show_id = :show;

-- name: subscription_raise :rows
INSERT INTO subscription (listener_id, show_id, since_on, level, muted) VALUES (:listener, :show, :since, :level, 0)
ON CONFLICT (listener_id, show_id) DO UPDATE SET level = max(level, excluded.level)
 WHERE excluded.level > level;

-- name: subscription_audience :many
SELECT show_id, count(*) AS n FROM subscription WHERE NOT muted GROUP BY show_id ORDER BY show_id;

-- name: subscription_place :many
SELECT listener_id, show_id, rank() OVER (ORDER BY level DESC) AS place FROM subscription ORDER BY listener_id, show_id;
