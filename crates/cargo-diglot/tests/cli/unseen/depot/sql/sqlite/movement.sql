-- name: movement_balance :many
SELECT lot_id, sum(CASE kind WHEN 'in' THEN qty WHEN 'out' THEN -qty ELSE 0 END) AS balance
  FROM movement GROUP BY lot_id ORDER BY lot_id;

-- name: movement_by_day :many
SELECT strftime('%Y-%m-%d', at_ms / 1000, 'unixepoch') AS day, count(*) AS n
  FROM movement GROUP BY day ORDER BY day;

-- name: movement_calendar :many
WITH RECURSIVE days (day) AS (
  SELECT expires_on FROM lot WHERE id = :lot AND expires_on IS NOT NULL
  UNION ALL
  SELECT date(day, '+1 day') FROM days
   WHERE day < (SELECT date(expires_on, '+6 days') FROM lot WHERE id = :lot)
)
SELECT days.day, count(m.id) AS n
  FROM days LEFT JOIN movement m ON date(m.at_ms / 1000, 'unixepoch') = days.day
 GROUP BY days.day ORDER BY days.day;

-- name: movement_lots :one
SELECT count(DISTINCT lot_id) AS lots FROM movement WHERE kind = :kind;

-- name: movement_recent :many
-- param: most i64
SELECT at_ms FROM movement ORDER BY at_ms DESC LIMIT :most;

-- name: movement_leaving :many
SELECT id FROM movement WHERE kind <> 'in' ORDER BY id;

-- name: movement_reasons :many
SELECT id, trim(reason) AS reason FROM movement ORDER BY id;

-- name: movement_of_day :many
-- param: on_day date
SELECT id FROM movement
 WHERE at_ms >= unixepoch(:on_day) * 1000 AND at_ms < unixepoch(:on_day, '+1 day') * 1000
 ORDER BY id;

-- name: movement_weekday :many
SELECT id, CAST(strftime('%w', at_ms / 1000, 'unixepoch') AS INTEGER) AS weekday FROM movement ORDER BY id;

-- name: movement_undo :opt
DELETE FROM movement
 WHERE id = (SELECT max(id) FROM movement WHERE lot_id = :lot)
RETURNING id, qty;
