-- name: locker_free :many
-- param: day date
SELECT number FROM locker WHERE climber_id IS NULL OR paid_until < :day ORDER BY number;

-- name: locker_assign :opt
UPDATE locker SET climber_id = :climber, paid_until = :day WHERE number = (SELECT min(number) FROM locker WHERE climber_id IS NULL)
   AND :climber NOT IN (SELECT climber_id FROM locker WHERE climber_id IS NOT NULL) RETURNING number;

-- name: locker_hint :many
SELECT number, substr(code, 1, 3) AS hint FROM locker ORDER BY number;
