-- name: batch_brew :exec
INSERT INTO batch (id, recipe_id, number, brewed_on, litres, state)
SELECT :id, :recipe, coalesce(max(number), 0) + 1, :day, :litres, 'fermenting' FROM batch WHERE recipe_id = :recipe;

-- name: batch_volume :many
SELECT recipe_id, coalesce(sum(litres) FILTER (WHERE state = 'ripe'), 0) AS ripe, count(*) FILTER (WHERE state = 'dumped') AS dumped
  FROM batch GROUP BY recipe_id ORDER BY recipe_id;

-- name: batch_ready :many
-- param: day date
SELECT id, number FROM batch WHERE state = 'fermenting' AND julianday(:day) - julianday(brewed_on) > 14 ORDER BY number, id;

-- name: batch_move :rows
UPDATE batch SET tank_id = :tank WHERE id = :id AND state <> 'bottled';

-- name: batch_strength :rows
-- param: abv i64
UPDATE batch SET doc = json_set(doc, '$.abv', :abv) WHERE id = :id;

-- name: batch_forget_note :rows
UPDATE batch SET doc = json_remove(doc, '$.note') WHERE id = :id;

-- name: batch_label :many
SELECT b.id, r.name || ' #' || printf('%04d', b.number) AS label FROM batch b JOIN recipe r ON r.id = b.recipe_id
 WHERE b.number < 10000 ORDER BY r.name, b.number;

-- name: batch_quarter :many
SELECT strftime('%Y', brewed_on) || '-Q' || ((strftime('%m', brewed_on) + 2) / 3) AS quarter, sum(litres) AS litres FROM batch
 GROUP BY quarter ORDER BY quarter;

-- name: batch_oldest :many
SELECT recipe_id, min(brewed_on) AS first FROM batch WHERE tank_id IS NOT NULL GROUP BY recipe_id ORDER BY first, recipe_id;
