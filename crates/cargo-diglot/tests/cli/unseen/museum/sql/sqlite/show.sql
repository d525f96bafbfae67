-- name: show_on :many
-- param: day date
SELECT id, title FROM show WHERE opens_on <= :day AND (closes_on IS NULL OR closes_on >= :day) ORDER BY opens_on, id;

-- name: show_prolong :rows
UPDATE show SET closes_on = date(closes_on, '+14 days') WHERE id = :id AND closes_on IS NOT NULL;

-- name: show_calendar :many
-- param: first date
-- param: last date
WITH RECURSIVE d (day) AS (SELECT :first WHERE :first <= :last UNION ALL SELECT date(day, '+1 day') FROM d WHERE day < :last LIMIT 31)
  SELECT d.day, (SELECT count(*) FROM show WHERE opens_on = d.day) AS n FROM d ORDER BY d.day;

-- name: show_next :opt
-- param: day date
SELECT id, title FROM show WHERE opens_on > :day ORDER BY opens_on, id LIMIT 1;

-- name: show_lengths :many
SELECT id, CAST(julianday(closes_on) - julianday(opens_on) AS INTEGER) AS days FROM show ORDER BY id;

-- name: show_curators :one
SELECT count(curator) AS n FROM show WHERE price > 0;
