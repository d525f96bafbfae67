-- name: play_by_hour :many
SELECT to_char(started_at AT TIME ZONE 'UTC', 'HH24') AS hour, count(*) AS n FROM play GROUP BY 1 ORDER BY 1;

-- name: play_complete :rows
UPDATE play SET finished = true
 WHERE EXISTS (SELECT 1 FROM episode e WHERE e.id = play.episode_id AND e.show_id = :show AND e.seconds <= play.position);

-- name: play_odd :many
SELECT id FROM play WHERE finished OR position = 0 ORDER BY id;

-- name: play_trim :rows
DELETE FROM play USING (SELECT id, row_number() OVER (ORDER BY started_at DESC, id DESC) AS rn FROM play) AS ranked
 WHERE ranked.id = play.id AND ranked.rn > 2;

-- name: play_listeners :many
SELECT episode_id, count(listener_id) AS listeners FROM play GROUP BY episode_id ORDER BY episode_id;

-- name: play_last :many
SELECT DISTINCT ON (episode_id) episode_id, id FROM play ORDER BY episode_id, started_at, id;

-- name: play_clean :rows
DELETE FROM play WHERE finished AND position = 0;

-- name: play_sessions :many
WITH marked AS (
  SELECT listener_id, started_at, lag(started_at) OVER (PARTITION BY listener_id ORDER BY started_at, id) AS before
    FROM play WHERE listener_id IS NOT NULL
)
SELECT listener_id, count(*) FILTER (WHERE before IS NULL OR started_at - before > interval '30 minutes') AS sessions
  FROM marked GROUP BY listener_id ORDER BY listener_id;

-- name: play_lately :many
SELECT id FROM play WHERE started_at > now() - interval '1 hour' ORDER BY id;
