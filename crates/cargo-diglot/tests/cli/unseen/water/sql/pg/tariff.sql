-- name: tariff_on :many
-- param: day date
SELECT DISTINCT ON (kind) kind, cents FROM tariff WHERE starts_on <= :day ORDER BY kind, starts_on DESC;

-- name: tariff_ranges :many
SELECT t.kind, t.starts_on, (SELECT min(n.starts_on) FROM tariff n WHERE n.kind = t.kind AND n.starts_on > t.starts_on) - 1 AS ends_on
  FROM tariff t ORDER BY t.kind, t.starts_on;

-- name: tariff_current :opt
SELECT cents, base_cents FROM tariff WHERE kind = :kind ORDER BY starts_on LIMIT 1;

-- name: tariff_raise :rows
UPDATE tariff SET cents = round(cents * 1.05) WHERE kind = :kind AND cents <= 900;
