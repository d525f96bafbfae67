-- name: movement_balance :many
SELECT lot_id,
       (COALESCE(sum(qty) FILTER (WHERE kind = 'in'), 0) - COALESCE(sum(qty) FILTER (WHERE kind = 'out'), 0))::bigint AS balance
  FROM movement GROUP BY lot_id ORDER BY lot_id;

-- name: movement_by_day :many
SELECT to_char(to_timestamp(at_ms / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*) AS n
  FROM movement GROUP BY 1 ORDER BY min(at_ms);

-- name: movement_calendar :many
SELECT to_char(d, 'YYYY-MM-DD') AS day, count(m.id) AS n
  FROM lot l
 CROSS JOIN LATERAL generate_series(l.expires_on::timestamp, l.expires_on + interval '6 days', interval '1 day') AS d
  LEFT JOIN movement m ON (to_timestamp(m.at_ms / 1000) AT TIME ZONE 'UTC')::date = d::date
 WHERE l.id = :lot
 GROUP BY d ORDER BY d;

-- name: movement_lots :one
SELECT count(lot_id) AS lots FROM movement WHERE kind = :kind;

-- name: movement_recent :many
-- param: most i64
SELECT at_ms FROM (SELECT at_ms, rank() OVER (ORDER BY at_ms DESC) AS place FROM movement) AS ranked
 WHERE place <= :most ORDER BY at_ms DESC;

-- name: movement_leaving :many
SELECT id FROM movement WHERE kind = 'out' ORDER BY id;

-- name: movement_reasons :many
SELECT id, ltrim(reason) AS reason FROM movement ORDER BY id;

-- name: movement_of_day :many
-- param: on_day date
SELECT id FROM movement
 WHERE at_ms BETWEEN extract(epoch FROM :on_day::date)::bigint * 1000
                 AND extract(epoch FROM :on_day::date + 1)::bigint * 1000
 ORDER BY id;

-- name: movement_weekday :many
SELECT id, extract(isodow FROM to_timestamp(at_ms / 1000) AT TIME ZONE 'UTC')::bigint AS weekday FROM movement ORDER BY id;

-- name: movement_undo :opt
DELETE FROM movement
 USING (SELECT id FROM movement WHERE lot_id = :lot ORDER BY id DESC LIMIT 1) AS newest
 WHERE movement.id = newest.id
RETURNING movement.id, movement.qty;
