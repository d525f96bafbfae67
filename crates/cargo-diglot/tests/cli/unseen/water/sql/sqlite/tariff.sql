-- name: tariff_on :many
-- param: day date
SELECT t.kind, t.cents FROM tariff t
 WHERE t.starts_on = (SELECT max(o.starts_on) FROM tariff o WHERE o.kind = t.kind AND o.starts_on <= :day) ORDER BY t.kind;

-- name: tariff_ranges :many
SELECT kind, starts_on, date(lead(starts_on) OVER (PARTITION BY kind ORDER BY starts_on), '-1 day') AS ends_on FROM tariff ORDER BY kind, starts_on;

-- name: tariff_current :opt
SELECT cents, base_cents FROM tariff WHERE kind = :kind ORDER BY starts_on DESC LIMIT 1;

-- name: tariff_raise :rows
UPDATE tariff SET cents = cents * 105 / 100 WHERE kind = :kind AND cents <= 900;
