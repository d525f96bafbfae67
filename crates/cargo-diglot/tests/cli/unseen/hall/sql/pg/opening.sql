-- name: opening_at :many
-- param: at time
SELECT weekday FROM opening WHERE NOT (:at < opens OR :at >= closes) ORDER BY weekday;

-- name: opening_hours :many
SELECT weekday, trunc(extract(epoch FROM closes - opens) / 3600)::bigint AS hours FROM opening ORDER BY weekday;
