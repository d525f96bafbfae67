-- name: review_list :many
SELECT id, stars, body FROM review WHERE show_id = :show ORDER BY stars DESC NULLS LAST, id;

-- name: review_average :many
SELECT show_id, sum(stars)::double precision / count(*) AS stars FROM review WHERE stars IS NOT NULL GROUP BY show_id ORDER BY show_id;

-- name: review_loved :many
SELECT show_id FROM review GROUP BY show_id HAVING avg(stars) > 4 ORDER BY show_id;

-- name: review_floor :many
-- param: floor i64
SELECT id, GREATEST(stars, :floor) AS stars FROM review ORDER BY id;

-- name: review_bodies :many
SELECT body AS said FROM review WHERE stars = 5 UNION ALL SELECT title FROM show ORDER BY said NULLS FIRST;
