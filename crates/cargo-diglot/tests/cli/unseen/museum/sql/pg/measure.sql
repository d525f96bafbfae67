-- name: measure_jumps :many
SELECT m.room_code, m.taken_at FROM measure m CROSS JOIN LATERAL (SELECT b.degrees FROM measure b WHERE b.room_code = m.room_code
  AND b.taken_at < m.taken_at ORDER BY b.taken_at DESC LIMIT 1) b WHERE m.degrees - b.degrees > 5 OR m.degrees - b.degrees < -5
  ORDER BY m.room_code, m.taken_at;

-- name: measure_doubts :many
SELECT room_code, taken_at FROM measure WHERE ok IS NOT TRUE ORDER BY room_code, taken_at;

-- name: measure_bands :many
SELECT room_code, taken_at, floor(degrees)::bigint AS band FROM measure ORDER BY room_code, taken_at;

-- name: measure_last :many
SELECT room_code, taken_at, last_value(degrees) OVER (PARTITION BY room_code ORDER BY taken_at ROWS BETWEEN UNBOUNDED PRECEDING
  AND UNBOUNDED FOLLOWING) AS degrees FROM measure ORDER BY room_code, taken_at;

-- name: measure_peaks :many
SELECT room_code, taken_at, max(degrees) OVER (PARTITION BY room_code ORDER BY taken_at ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS peak
  FROM measure ORDER BY room_code, taken_at;
