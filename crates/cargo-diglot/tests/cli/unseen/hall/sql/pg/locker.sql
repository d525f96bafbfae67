-- name: locker_free :many
-- param: day date
SELECT number FROM locker WHERE NOT (climber_id IS NOT NULL AND COALESCE(paid_until, 'infinity') >= :day) ORDER BY number;

-- name: locker_assign :opt
UPDATE locker l SET climber_id = :climber, paid_until = :day
  FROM (SELECT number FROM locker WHERE climber_id IS NULL ORDER BY number FETCH FIRST ROW ONLY) f
 WHERE l.number = f.number AND NOT EXISTS (SELECT 1 FROM locker o WHERE o.climber_id = :climber) RETURNING l.number;

-- name: locker_hint :many
SELECT number, right(code, 3) AS hint FROM locker ORDER BY number;
