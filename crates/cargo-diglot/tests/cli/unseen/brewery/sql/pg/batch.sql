-- name: batch_brew :exec
INSERT INTO batch (id, recipe_id, number, brewed_on, litres, state)
VALUES (:id, :recipe, COALESCE((SELECT number FROM batch WHERE recipe_id = :recipe ORDER BY number DESC LIMIT 1), 0) + 1,
  :day, :litres, 'fermenting');

-- name: batch_volume :many
SELECT recipe_id, sum(CASE WHEN state = 'ripe' THEN litres ELSE 0 END)::bigint AS ripe,
       sum(CASE WHEN state = 'dumped' THEN 1 ELSE 0 END) AS dumped
  FROM batch GROUP BY recipe_id ORDER BY recipe_id;

-- name: batch_ready :many
-- param: day date
SELECT id, number FROM batch WHERE state = 'fermenting' AND :day::date - brewed_on >= 14 ORDER BY number, id;

-- name: batch_move :rows
UPDATE batch SET tank_id = :tank WHERE id = :id AND state NOT IN ('bottled', 'dumped');

-- name: batch_strength :rows
-- param: abv i64
UPDATE batch SET doc = jsonb_set(doc, '{abv}', to_jsonb(:abv::bigint)) WHERE id = :id;

-- name: batch_forget_note :rows
UPDATE batch SET doc = doc - 'notes' WHERE id = :id;

-- name: batch_label :many
SELECT b.id, r.name || ' #' || lpad(b.number::text, 4, '0') AS label FROM batch b JOIN recipe r ON r.id = b.recipe_id
 WHERE b.number < 10000 ORDER BY r.name, b.number;

-- name: batch_quarter :many
SELECT to_char(brewed_on, 'YYYY"-Q"Q') AS quarter, sum(litres)::bigint AS litres FROM batch GROUP BY 1 ORDER BY 1;

-- name: batch_oldest :many
SELECT recipe_id, min(brewed_on) AS first FROM batch GROUP BY recipe_id HAVING count(tank_id) > 0 ORDER BY first, recipe_id;
