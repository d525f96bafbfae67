-- Takes a thing in.
-- name: item_add :exec
-- param: weight f64 null
-- param: cover bytes null
-- param: opens time null
INSERT INTO item (id, shelf, number, title, kind, price, weight, heavy, tags, pages, cover, doc, bought, opens, seen_at)
VALUES (:id, :shelf, :number, :title, :kind, :price, :weight, :heavy, :tags, :pages, :cover, :doc, :bought, :opens, :seen_at);

-- All that is known of a thing.
-- name: item_read :opt
SELECT shelf, number, title, kind, state, price, weight, heavy, tags, pages, cover, doc, bought, opens, seen_at
  FROM item
 WHERE id = :id;

-- The thing of a title that one has alone.
-- name: item_only :one
SELECT id, price FROM item WHERE title = :title ORDER BY id;

-- Things that are here, for as many conditions as a reader has, in the order that is asked for.
-- name: item_find :many
SELECT id, title, price
  FROM item
 WHERE state = :state
-- if: kind
   AND kind = :kind
-- end
-- if: since
   AND seen_at >= :since
-- end
-- order: titled
 ORDER BY title, id
-- order: numbered
 ORDER BY shelf DESC, number DESC
-- end
 LIMIT :most;

-- The things of a shelf, in pages.
-- page: after
-- name: item_page :many
SELECT id, number, weight
  FROM item
 WHERE shelf = :shelf
 ORDER BY weight DESC NULLS LAST, id
 LIMIT :most;

-- Which of some things there are.
-- name: item_known :many
SELECT id, title FROM item WHERE id = ANY(:ids) ORDER BY id;

-- Every thing, one after the other.
-- name: item_each :stream
SELECT shelf, number, title FROM item ORDER BY shelf, number;

-- Things of some kinds.
-- name: item_of_kinds :many
SELECT title FROM item WHERE kind = ANY(:kinds) ORDER BY title;

-- Puts many things elsewhere, and says for each what it is called.
-- rows: given(id uuid key, shelf i16, seen timestamp, price numeric, cover bytes null, title text null)
-- name: item_move :opt
UPDATE item
   SET shelf = given.shelf, seen_at = given.seen, price = given.price, cover = given.cover,
       title = coalesce(given.title, item.title)
  FROM given
 WHERE item.id = given.id
RETURNING item.id, item.title, item.price;

-- Lends a thing that is here.
-- name: item_lend :opt
WITH held AS (
  SELECT id, number FROM item WHERE id = :id AND state = 'here' FOR UPDATE
),
lent AS (
  INSERT INTO loan (id, item_id, reader) SELECT :loan, held.id, :reader FROM held
)
UPDATE item SET state = 'lent', seen_at = :now
 WHERE id = :id AND EXISTS (SELECT 1 FROM held)
RETURNING shelf, number;

-- Takes a thing back, and says from whom.
-- name: item_return :opt
WITH ended AS (
  UPDATE loan SET ended = true WHERE item_id = :id AND NOT ended RETURNING reader
),
here AS (UPDATE item SET state = 'here', seen_at = :now WHERE id = :id AND state = 'lent' RETURNING shelf, number)
SELECT here.shelf, here.number, ended.reader FROM here CROSS JOIN ended;

-- The state of each thing, and its title.
-- name: item_states :many
SELECT state, title FROM item ORDER BY id;

-- Takes a thing out that is not lent; says how many that were.
-- name: item_drop :rows
DELETE FROM item WHERE number = :number AND state = 'here';
