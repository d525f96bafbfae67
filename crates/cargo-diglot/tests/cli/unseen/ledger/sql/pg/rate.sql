-- name: rate_on :many
-- param: day date
SELECT DISTINCT ON (currency) currency, micros FROM rate WHERE day <= :day ORDER BY currency, day DESC;

-- name: rate_moves :many
SELECT r.currency, r.day FROM rate r JOIN LATERAL (SELECT o.micros FROM rate o WHERE o.currency = r.currency AND o.day < r.day
  ORDER BY o.day DESC LIMIT 1) b ON b.micros IS DISTINCT FROM r.micros ORDER BY r.currency, r.day;

-- name: rate_put :rows
-- param: day date
INSERT INTO rate (currency, day, micros) VALUES (:currency, :day, :micros) ON CONFLICT (currency, day) DO NOTHING;

-- name: rate_convert :many
-- param: rate i64
SELECT id, round(amount * :rate::numeric / 1000000)::bigint AS amount FROM entry ORDER BY id;

-- name: rate_mean :many
SELECT currency, sum(micros) / count(*) AS micros FROM rate GROUP BY currency ORDER BY currency;
