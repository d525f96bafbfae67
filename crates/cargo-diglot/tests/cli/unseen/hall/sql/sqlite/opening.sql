-- name: opening_at :many
-- param: at time
SELECT weekday FROM opening WHERE opens <= :at AND :at < closes ORDER BY weekday;

-- name: opening_hours :many
SELECT weekday, CAST(strftime('%H', closes) AS INTEGER) - CAST(strftime('%H', opens) AS INTEGER) AS hours FROM opening ORDER BY weekday;
