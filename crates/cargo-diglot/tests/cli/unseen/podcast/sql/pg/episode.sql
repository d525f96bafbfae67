-- name: episode_out :many
SELECT id, title FROM episode WHERE published_at <= now() ORDER BY id;

-- name: episode_clock :many
SELECT id, to_char(make_interval(secs => seconds), 'HH24:MI:SS') AS clock FROM episode ORDER BY id;

-- name: episode_following :many
SELECT e.id, (SELECT min(o.number) FROM episode o WHERE o.show_id = e.show_id AND o.season = e.season AND o.number > e.number) AS following
  FROM episode e WHERE e.show_id = :show AND e.season IS NOT NULL ORDER BY e.id;

-- name: episode_live :many
SELECT id FROM episode WHERE published_at < :now ORDER BY id;

-- name: episode_list :many
SELECT id, season, number FROM episode WHERE show_id = :show ORDER BY season, number, id;

-- name: episode_minutes :many
SELECT id, ceil(seconds / 60.0)::bigint AS minutes FROM episode ORDER BY id;

-- name: episode_newest_title :many
SELECT id, last_value(title) OVER (PARTITION BY show_id ORDER BY number, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS newest FROM episode ORDER BY id;

-- name: episode_between :many
-- param: from_day date
-- param: to_day date
SELECT id FROM episode
 WHERE (published_at AT TIME ZONE 'UTC')::date >= :from_day AND (published_at AT TIME ZONE 'UTC')::date <= :to_day ORDER BY id;

-- name: episode_page :many
-- param: page i64
-- param: size i64
SELECT id FROM episode ORDER BY id LIMIT :size OFFSET (:page - 1) * :size;

-- name: episode_week :many
SELECT id, extract(week FROM published_at AT TIME ZONE 'UTC')::bigint AS week FROM episode ORDER BY id;
