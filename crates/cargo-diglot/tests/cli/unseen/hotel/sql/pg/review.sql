-- name: review_best :many
SELECT r.kind, avg(v.stars)::double precision AS stars FROM review v JOIN booking b ON b.id = v.booking_id JOIN room r ON r.id = b.room_id
 GROUP BY r.kind HAVING count(v.stars) > 1 ORDER BY r.kind;

-- name: review_put :exec
-- param: stars i64 null
-- param: body text null
INSERT INTO review AS r (booking_id, stars, body) VALUES (:booking, :stars, :body)
ON CONFLICT (booking_id) DO UPDATE SET stars = EXCLUDED.stars, body = EXCLUDED.body;

-- name: review_silent :many
SELECT booking_id FROM review WHERE body = '' ORDER BY booking_id;
