-- name: rate_on :many
-- param: day date
SELECT currency, micros FROM rate r WHERE day = (SELECT max(day) FROM rate o WHERE o.currency = r.currency AND o.day <= :day) ORDER BY currency;

-- name: rate_moves :many
SELECT currency, day FROM (SELECT currency, day, micros, lag(micros) OVER (PARTITION BY currency ORDER BY day) AS before FROM rate)
  WHERE micros <> before ORDER BY currency, day;

-- name: rate_put :rows
-- param: day date
INSERT INTO rate (currency, day, micros) VALUES (:currency, :day, :micros) ON CONFLICT (currency, day) DO UPDATE SET micros = excluded.micros;

-- name: rate_convert :many
-- param: rate i64
SELECT id, amount * :rate / 1000000 AS amount FROM entry ORDER BY id;

-- name: rate_mean :many
SELECT currency, sum(micros) / count(*) AS micros FROM rate GROUP BY currency ORDER BY currency;
