-- name: item_add :exec
-- param: category text null
INSERT INTO item (sku, supplier_id, name, category, grams, perishable, attrs)
VALUES (:sku, NULL, :name, :category, :grams, :perishable, :attrs);

-- name: item_listing :many
SELECT sku, name FROM item ORDER BY name, sku;

-- name: item_colored :many
SELECT sku FROM item WHERE attrs ->> '$.color' = :color ORDER BY sku;

-- name: item_sized :many
-- param: least i64
SELECT sku, json_extract(attrs, '$.size') AS size
  FROM item
 WHERE json_extract(attrs, '$.size') >= :least
 ORDER BY sku;

-- name: item_with_prefix :many
-- param: prefix text
SELECT sku, name FROM item WHERE substr(name, 1, length(:prefix)) = :prefix ORDER BY sku;

-- name: item_skus :one
SELECT json_group_array(sku) AS skus
  FROM (SELECT sku FROM item WHERE category = :category ORDER BY sku);

-- name: item_unstocked :many
SELECT sku FROM item EXCEPT SELECT sku FROM lot;

-- name: item_by_name :many
SELECT sku, name FROM item ORDER BY name, sku COLLATE BINARY;

-- name: item_save :exec
-- param: category text null
INSERT INTO item (sku, name, category, grams, perishable, attrs)
VALUES (:sku, :name, :category, :grams, 0, '{}')
ON CONFLICT (sku) DO UPDATE SET name = excluded.name;

-- name: item_colorless :many
SELECT sku FROM item WHERE json_extract(attrs, '$.color') IS NULL ORDER BY sku;

-- name: item_of_category :many
SELECT sku FROM item WHERE category <> :category ORDER BY sku;

-- name: item_everywhere :many
SELECT i.sku FROM item i
 WHERE (SELECT count(DISTINCT p.shelf_id) FROM lot l JOIN placement p ON p.lot_id = l.id WHERE l.sku = i.sku)
     = (SELECT count(*) FROM shelf)
 ORDER BY i.sku;
