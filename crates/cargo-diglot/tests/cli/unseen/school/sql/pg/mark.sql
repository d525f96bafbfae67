-- name: mark_mean :many
SELECT pupil_id, div(sum(value * weight) * 100, sum(weight))::bigint AS hundredths FROM mark WHERE value IS NOT NULL
 GROUP BY pupil_id ORDER BY pupil_id;

-- name: mark_mean_of :one
SELECT sum(value) / count(value) AS mean FROM mark WHERE pupil_id = :pupil;

-- name: mark_worst :many
SELECT id, value FROM mark WHERE course_id = :course ORDER BY value DESC, id LIMIT 3;

-- name: mark_spread :many
SELECT course_id, count(*) FILTER (WHERE value <= 2) AS good, count(*) FILTER (WHERE value > 4)::double precision AS bad
  FROM mark GROUP BY course_id ORDER BY course_id;

-- name: mark_last :many
SELECT DISTINCT ON (pupil_id) pupil_id, value FROM mark ORDER BY pupil_id, given_on DESC, id DESC;

-- name: mark_double :rows
UPDATE mark SET weight = CASE WHEN weight > 2 THEN 4 ELSE weight * 2 END WHERE course_id = :course AND value > 0;

-- name: mark_heavy :many
SELECT pupil_id FROM mark GROUP BY pupil_id HAVING sum(weight) >= 8 ORDER BY pupil_id;

-- name: mark_recent :many
-- param: day date
SELECT id FROM mark WHERE given_on > :day::date - interval '1 month' ORDER BY id;

-- name: mark_days :many
SELECT given_on FROM mark WHERE course_id = :course ORDER BY given_on;
