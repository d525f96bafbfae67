-- name: review_best :many
SELECT r.kind, avg(v.stars) AS stars FROM room r JOIN booking b ON b.room_id = r.id JOIN review v ON v.booking_id = b.id
 GROUP BY r.kind HAVING count(v.stars) >= 2 ORDER BY r.kind;

-- name: review_put :exec
-- param: stars i64 null
-- param: body text null
INSERT INTO review (booking_id, stars, body) VALUES (:booking, :stars, :body)
ON CONFLICT (booking_id) DO UPDATE SET stars = excluded.stars, body = coalesce(excluded.body, body);

-- name: review_silent :many
SELECT booking_id FROM review WHERE coalesce(body, '') = '' ORDER BY booking_id;
