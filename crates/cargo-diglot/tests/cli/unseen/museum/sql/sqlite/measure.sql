-- name: measure_jumps :many
SELECT room_code, taken_at FROM (SELECT room_code, taken_at, degrees - lag(degrees) OVER (PARTITION BY room_code ORDER BY taken_at) AS jump
  FROM measure) WHERE abs(jump) > 5 ORDER BY room_code, taken_at;

-- name: measure_doubts :many
SELECT room_code, taken_at FROM measure WHERE ok IS NOT 1 ORDER BY room_code, taken_at;

-- name: measure_bands :many
SELECT room_code, taken_at, CAST(degrees AS INTEGER) AS band FROM measure ORDER BY room_code, taken_at;

-- name: measure_last :many
SELECT room_code, taken_at, last_value(degrees) OVER (PARTITION BY room_code ORDER BY taken_at) AS degrees FROM measure ORDER BY room_code, taken_at;

-- name: measure_peaks :many
SELECT room_code, taken_at, max(degrees) OVER (PARTITION BY room_code ORDER BY taken_at ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS peak
  FROM measure ORDER BY room_code, taken_at;
