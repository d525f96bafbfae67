-- name: visitor_ages :many
-- param: day date
SELECT id, strftime('%Y', :day) - strftime('%Y', born_on) - (strftime('%m-%d', :day) < strftime('%m-%d', born_on)) AS years FROM visitor
  WHERE born_on <= :day ORDER BY id;

-- name: visitor_top :many
SELECT id, points FROM visitor WHERE banned = 0 ORDER BY points DESC, id LIMIT 3;

-- name: visitor_langs :many
SELECT coalesce(prefs ->> '$.lang', 'en') AS lang, count(*) AS n FROM visitor GROUP BY lang ORDER BY n DESC, lang;

-- name: visitor_never :many
SELECT v.id FROM visitor v LEFT JOIN ticket t ON t.visitor_id = v.id WHERE t.id IS NULL ORDER BY v.id;

-- name: visitor_import :rows
-- param: email text null
INSERT OR IGNORE INTO visitor (id, name, email, joined_at) VALUES (:id, :name, :email, :now);

-- name: visitor_find :many
-- param: email text
SELECT id, name FROM visitor WHERE email = lower(:email) ORDER BY id;

-- name: visitor_ranks :many
SELECT id, dense_rank() OVER (ORDER BY points DESC) AS place FROM visitor ORDER BY id;

-- name: visitor_page :many
SELECT id, points FROM visitor WHERE (points, id) < (:points, :id) ORDER BY points DESC, id DESC LIMIT 10;

-- name: visitor_oldest :many
SELECT id FROM visitor ORDER BY born_on, id LIMIT 2;

-- name: visitor_bonus :rows
UPDATE visitor SET points = points * 11 / 10 WHERE banned = 0 AND points < 1000;

-- name: visitor_save :rows
-- param: email text null
INSERT INTO visitor (id, name, email, joined_at) VALUES (:id, :name, :email, :now)
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, email = excluded.email;
