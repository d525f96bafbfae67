-- name: show_add :exec
-- param: owner text null
INSERT INTO show (id, slug, title, owner, lang, meta) VALUES (:id, :slug, :title, :owner, :lang, :meta);

-- name: show_featured :many
SELECT id, slug FROM show WHERE meta -> 'featured' = 'true'::jsonb ORDER BY id;

-- name: show_in_lang :many
-- param: lang text
SELECT id FROM show
 WHERE :lang IN (SELECT jsonb_array_elements_text(show.meta -> 'langs'))
 ORDER BY id;

-- name: show_card :many
SELECT s.id, jsonb_build_object('slug', s.slug, 'owner', s.owner, 'episodes', count(e.id)) AS card
  FROM show s LEFT JOIN episode e ON e.show_id = s.id
 GROUP BY s.id, s.slug, s.owner ORDER BY s.id;

-- name: show_the :many
SELECT id, title FROM show WHERE title COLLATE "C" ILIKE 'the %' ORDER BY id;

-- name: show_finish_rate :many
SELECT e.show_id, 100 * count(*) FILTER (WHERE p.finished) / count(*) AS percent
  FROM play p JOIN episode e ON e.id = p.episode_id
 GROUP BY e.show_id ORDER BY e.show_id;

-- name: show_remove :rows
DELETE FROM review WHERE show_id = :id;
DELETE FROM show WHERE id = :id;

-- name: show_create :exec
-- param: lang text null
INSERT INTO show (id, slug, title, lang, meta) VALUES (:id, :slug, :title, COALESCE(:lang, 'de'), '{}');

-- name: show_credit :many
SELECT id, format('%s by %s', title, owner) AS credit FROM show ORDER BY id;

-- name: show_heard :many
SELECT s.id FROM show s JOIN episode e ON e.show_id = s.id JOIN play p ON p.episode_id = e.id
 ORDER BY s.id;

-- name: show_newest :many
SELECT s.id, newest.title
  FROM show s
  LEFT JOIN LATERAL (
       SELECT e.title FROM episode e
        WHERE e.show_id = s.id AND e.published_at IS NOT NULL
        ORDER BY e.published_at DESC, e.id DESC
        FETCH FIRST ROW ONLY
  ) AS newest ON true
 ORDER BY s.id;

-- name: show_feature :rows
UPDATE show SET meta = jsonb_set(meta, '{featured}', 'true') WHERE slug = :slug;

-- name: show_merge :rows
-- param: meta json
UPDATE show SET meta = meta || :meta::jsonb WHERE id = :id;

-- name: show_acclaimed :many
SELECT s.id, count(r.id) AS n FROM show s LEFT JOIN review r ON r.show_id = s.id WHERE r.stars >= 4 GROUP BY s.id ORDER BY s.id;
