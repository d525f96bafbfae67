-- name: item_add :exec
-- param: category text null
INSERT INTO item (sku, supplier_id, name, category, grams, perishable, attrs)
VALUES (:sku, NULL, :name, :category, :grams, :perishable, :attrs);

-- name: item_listing :many
SELECT sku, name FROM item ORDER BY name COLLATE "C", sku COLLATE "C";

-- name: item_colored :many
SELECT sku FROM item WHERE attrs ->> 'color' = :color ORDER BY sku COLLATE "C";

-- name: item_sized :many
-- param: least i64
SELECT sku, (attrs ->> 'size')::bigint AS size
  FROM item
 WHERE (attrs ->> 'size')::bigint >= :least
 ORDER BY sku COLLATE "C";

-- name: item_with_prefix :many
-- param: prefix text
SELECT sku, name FROM item WHERE starts_with(name, :prefix) ORDER BY sku COLLATE "C";

-- name: item_skus :one
SELECT COALESCE(jsonb_agg(sku ORDER BY sku COLLATE "C"), '[]'::jsonb) AS skus
  FROM item WHERE category = :category;

-- name: item_unstocked :many
SELECT sku FROM item i WHERE NOT EXISTS (SELECT 1 FROM lot l WHERE l.sku = i.sku);

-- name: item_by_name :many
SELECT sku, name FROM item ORDER BY name, sku COLLATE "C";

-- name: item_save :exec
-- param: category text null
INSERT INTO item (sku, name, category, grams, perishable, attrs)
VALUES (:sku, :name, :category, :grams, false, '{}')
ON CONFLICT (sku) DO UPDATE SET name = excluded.name, category = excluded.category;

-- name: item_colorless :many
SELECT sku FROM item WHERE NOT attrs ? 'color' ORDER BY sku COLLATE "C";

-- name: item_of_category :many
SELECT sku FROM item WHERE category IS DISTINCT FROM :category ORDER BY sku COLLATE "C";

-- name: item_everywhere :many
SELECT i.sku FROM item i
 WHERE NOT EXISTS (
         SELECT 1 FROM shelf s
          WHERE NOT EXISTS (SELECT 1 FROM lot l JOIN placement p ON p.lot_id = l.id WHERE l.sku = i.sku AND p.shelf_id = s.id))
 ORDER BY i.sku COLLATE "C";
