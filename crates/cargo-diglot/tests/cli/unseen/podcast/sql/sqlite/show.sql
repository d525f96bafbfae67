-- name: show_add :exec
-- param: owner text null
INSERT INTO show (id, slug, title, owner, lang, meta) VALUES (:id, :slug, :title, :owner, :lang, :meta);

-- name: show_featured :many
SELECT id, slug FROM show WHERE json_extract(meta, '$.featured') = 1 ORDER BY id;

-- name: show_in_lang :many
-- param: lang text
SELECT id FROM show
 WHERE :lang IN (SELECT value FROM json_each(show.meta, '$.langs'))
 ORDER BY id;

-- name: show_card :many
SELECT id, json_object('slug', slug, 'owner', owner, 'episodes', (SELECT count(*) FROM episode e WHERE e.show_id = show.id)) AS card
  FROM show ORDER BY id;

-- name: show_the :many
SELECT id, title FROM show WHERE title LIKE 'the %' ORDER BY id;

-- name: show_finish_rate :many
SELECT e.show_id, 100 * sum(p.finished) / count(*) AS percent
  FROM episode e JOIN play p ON p.episode_id = e.id
 GROUP BY e.show_id ORDER BY e.show_id;

-- name: show_remove :rows
DELETE FROM review WHERE show_id = :id;
DELETE FROM show WHERE id = :id;

-- name: show_create :exec
-- param: lang text null
INSERT INTO show (id, slug, title, lang, meta) VALUES (:id, :slug, :title, COALESCE(:lang, 'en'), '{}');

-- name: show_credit :many
SELECT id, title || ' by ' || owner AS credit FROM show ORDER BY id;

-- name: show_heard :many
SELECT s.id FROM show s
 WHERE EXISTS (SELECT 1 FROM episode e JOIN play p ON p.episode_id = e.id WHERE e.show_id = s.id)
 ORDER BY s.id;

-- name: show_newest :many
SELECT s.id,
       (SELECT e.title FROM episode e
         WHERE e.show_id = s.id AND e.published_at IS NOT NULL
         ORDER BY e.published_at DESC, e.id DESC LIMIT 1) AS title
  FROM show s ORDER BY s.id;

-- name: show_feature :rows
UPDATE show SET meta = json_set(meta, '$.featured', json('true')) WHERE slug = :slug;

-- name: show_merge :rows
-- param: meta json
UPDATE show SET meta = json_patch(meta, :meta) WHERE id = :id;

-- name: show_acclaimed :many
SELECT s.id, count(r.id) AS n FROM show s LEFT JOIN review r ON r.show_id = s.id AND r.stars >= 4 GROUP BY s.id ORDER BY s.id;
