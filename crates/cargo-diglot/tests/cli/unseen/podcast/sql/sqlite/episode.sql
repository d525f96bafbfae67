-- name: episode_out :many
SELECT id, title FROM episode WHERE published_at <= datetime('now') ORDER BY id;

-- name: episode_clock :many
SELECT id, printf('%02d:%02d:%02d', seconds / 3600, seconds / 60 % 60, seconds % 60) AS clock FROM episode ORDER BY id;

-- name: episode_following :many
SELECT id, lead(number) OVER (PARTITION BY season ORDER BY number) AS following
  FROM episode WHERE show_id = :show AND season IS NOT NULL ORDER BY id;

-- name: episode_live :many
SELECT id FROM episode WHERE published_at <= :now ORDER BY id;

-- name: episode_list :many
SELECT id, season, number FROM episode WHERE show_id = :show ORDER BY season, number, id;

-- name: episode_minutes :many
SELECT id, seconds / 60 AS minutes FROM episode ORDER BY id;

-- name: episode_newest_title :many
SELECT id, last_value(title) OVER (PARTITION BY show_id ORDER BY number, id) AS newest FROM episode ORDER BY id;

-- name: episode_between :many
-- param: from_day date
-- param: to_day date
SELECT id FROM episode WHERE published_at >= :from_day AND published_at <= :to_day ORDER BY id;

-- name: episode_page :many
-- param: page i64
-- param: size i64
SELECT id FROM episode ORDER BY id LIMIT :size OFFSET :page - 1;

-- name: episode_week :many
SELECT id, CAST(strftime('%W', published_at) AS INTEGER) AS week FROM episode ORDER BY id;
