-- name: mark_mean :many
SELECT pupil_id, sum(value * weight) * 100 / sum(weight) AS hundredths FROM mark WHERE value IS NOT NULL
 GROUP BY pupil_id ORDER BY pupil_id;

-- name: mark_mean_of :one
SELECT sum(value) / count(value) AS mean FROM mark WHERE pupil_id = :pupil;

-- name: mark_worst :many
SELECT id, value FROM mark WHERE course_id = :course ORDER BY value DESC, id LIMIT 3;

-- name: mark_spread :many
SELECT course_id, sum(iif(value <= 2, 1, 0)) AS good, total(value > 4) AS bad FROM mark GROUP BY course_id ORDER BY course_id;

-- name: mark_last :many
SELECT m.pupil_id, m.value FROM mark m WHERE m.id = (
  SELECT o.id FROM mark o WHERE o.pupil_id = m.pupil_id ORDER BY o.given_on DESC, o.id DESC LIMIT 1
) ORDER BY m.pupil_id;

-- name: mark_double :rows
UPDATE mark SET weight = min(weight * 2, 4) WHERE course_id = :course AND value IS NOT NULL;

-- name: mark_heavy :many
SELECT pupil_id FROM mark GROUP BY pupil_id HAVING sum(weight) > 8 ORDER BY pupil_id;

-- name: mark_recent :many
-- param: day date
SELECT id FROM mark WHERE given_on > date(:day, '-1 month') ORDER BY id;

-- name: mark_days :many
SELECT DISTINCT given_on FROM mark WHERE course_id = :course ORDER BY given_on;
