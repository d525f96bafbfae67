-- name: play_by_hour :many
SELECT strftime('%H', started_at) AS hour, count(*) AS n FROM play GROUP BY hour ORDER BY hour;

-- name: play_complete :rows
UPDATE play SET finished = 1
  FROM episode
 WHERE episode.id = play.episode_id AND episode.show_id = :show AND play.position >= episode.seconds;

-- name: play_odd :many
SELECT id FROM play WHERE finished = 1 UNION SELECT id FROM play WHERE position = 0 ORDER BY id;

-- name: play_trim :rows
DELETE FROM play WHERE id NOT IN (SELECT id FROM play ORDER BY started_at DESC, id DESC LIMIT 2);

-- name: play_listeners :many
SELECT episode_id, count(DISTINCT listener_id) AS listeners FROM play GROUP BY episode_id ORDER BY episode_id;

-- name: play_last :many
SELECT episode_id, id
  FROM (SELECT episode_id, id, row_number() OVER (PARTITION BY episode_id ORDER BY started_at DESC, id) AS rn FROM play)
 WHERE rn = 1 ORDER BY episode_id;

-- name: play_clean :rows
DELETE FROM play WHERE finished = 1 OR position = 0;

-- name: play_sessions :many
WITH marked AS (
  SELECT listener_id,
         CASE WHEN unixepoch(started_at) - unixepoch(lag(started_at) OVER (PARTITION BY listener_id ORDER BY started_at, id)) <= 1800
              THEN 0 ELSE 1 END AS fresh
    FROM play WHERE listener_id IS NOT NULL
)
SELECT listener_id, sum(fresh) AS sessions FROM marked GROUP BY listener_id ORDER BY listener_id;

-- name: play_lately :many
SELECT id FROM play WHERE started_at > datetime('now', '-1 day') ORDER BY id;
