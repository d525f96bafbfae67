-- name: route_both_ways :many
SELECT DISTINCT a.code FROM route a JOIN route b ON b.from_port = a.to_port AND b.to_port = a.from_port ORDER BY a.code;

-- name: route_reach :many
WITH RECURSIVE reach (port) AS (
  VALUES (:port)
  UNION
  SELECT r.to_port FROM reach JOIN route r ON r.from_port = reach.port
)
SELECT port FROM reach ORDER BY port;

-- name: route_longest :many
SELECT code, max(minutes) AS minutes FROM route;

-- name: fare_set :rows
INSERT OR REPLACE INTO fare (route_code, klass, cents) VALUES (:route, :klass, :cents);

-- name: fare_offer :rows
INSERT OR IGNORE INTO fare (route_code, klass, cents) VALUES (:route, :klass, :cents);
