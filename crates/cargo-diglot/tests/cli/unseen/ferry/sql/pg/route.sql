-- name: route_both_ways :many
SELECT a.code FROM route a WHERE EXISTS (SELECT 1 FROM route b WHERE (b.from_port, b.to_port) = (a.to_port, a.from_port)) ORDER BY a.code;

-- name: route_reach :many
WITH RECURSIVE reach (port) AS (
  SELECT :port::text
  UNION
  SELECT r.to_port FROM route r, reach WHERE r.from_port = reach.port
)
SELECT port FROM reach ORDER BY port;

-- name: route_longest :many
SELECT code, minutes FROM route ORDER BY minutes DESC, code LIMIT 1;

-- name: fare_set :rows
INSERT INTO fare (route_code, klass, cents) VALUES (:route, :klass, :cents)
ON CONFLICT (route_code, klass) DO UPDATE SET cents = excluded.cents;

-- name: fare_offer :rows
INSERT INTO fare (route_code, klass, cents) VALUES (:route, :klass, :cents) ON CONFLICT DO NOTHING;
