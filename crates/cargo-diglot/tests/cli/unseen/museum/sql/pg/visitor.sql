-- name: visitor_ages :many
-- param: day date
SELECT id, extract(year FROM age(:day::date, born_on))::bigint AS years FROM visitor WHERE born_on <= :day ORDER BY id;

-- name: visitor_top :many
SELECT id, points FROM visitor WHERE banned IS FALSE ORDER BY points DESC, id ASC FETCH FIRST 3 ROWS ONLY;

-- name: visitor_langs :many
SELECT COALESCE(prefs ->> 'lang', 'en') AS lang, count(*) AS n FROM visitor GROUP BY 1 ORDER BY 2 DESC, 1;

-- name: visitor_never :many
SELECT id FROM visitor WHERE id NOT IN (SELECT visitor_id FROM ticket WHERE visitor_id IS NOT NULL) ORDER BY id;

-- name: visitor_import :rows
-- param: email text null
INSERT INTO visitor (id, name, email, joined_at) VALUES (:id, :name, :email, :now) ON CONFLICT DO NOTHING;

-- name: visitor_find :many
-- param: email text
SELECT id, name FROM visitor WHERE lower(email) = lower(:email) ORDER BY id;

-- name: visitor_ranks :many
SELECT id, rank() OVER (ORDER BY points DESC) AS place FROM visitor ORDER BY id;

-- name: visitor_page :many
SELECT id, points FROM visitor WHERE points < :points OR id < :id ORDER BY points DESC, id DESC LIMIT 10;

-- name: visitor_oldest :many
SELECT id FROM visitor ORDER BY born_on, id LIMIT 2;

-- name: visitor_bonus :rows
UPDATE visitor SET points = points * 1.1 WHERE NOT banned AND points < 1000;

-- name: visitor_save :rows
-- param: email text null
INSERT INTO visitor AS v (id, name, email, joined_at) VALUES (:id, :name, :email, :now)
  ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, email = COALESCE(EXCLUDED.email, v.email);
