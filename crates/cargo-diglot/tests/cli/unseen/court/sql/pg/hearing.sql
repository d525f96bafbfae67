-- name: hearing_day :many
-- param: day date
SELECT h.id, m.reference, j.name AS judge
  FROM hearing h JOIN matter m ON m.id = h.matter_id LEFT JOIN judge j ON j.id = h.judge_id
 WHERE m.court_id = :court AND (h.starts_at AT TIME ZONE 'UTC')::date = :day
 ORDER BY h.starts_at, h.id;

-- name: hearing_running :many
SELECT id, room FROM hearing WHERE starts_at <= :now AND starts_at + minutes * interval '1 minute' > :now AND state = 'planned'
 ORDER BY room, id;

-- name: hearing_cancel :rows
UPDATE hearing SET state = 'cancelled' FROM matter m
 WHERE m.id = hearing.matter_id AND hearing.state = 'planned' AND m.court_id = :court AND m.closed_on IS NOT NULL;

-- name: hearing_load :many
SELECT j.id, j.name, COALESCE(sum(h.minutes) FILTER (WHERE h.state = 'held'), 0)::bigint AS minutes
  FROM judge j LEFT JOIN hearing h ON h.judge_id = j.id
 WHERE j.court_id = :court GROUP BY j.id, j.name ORDER BY j.id;

-- name: hearing_month :many
-- param: day date
SELECT id FROM hearing
 WHERE date_trunc('month', starts_at AT TIME ZONE 'UTC') = date_trunc('month', :day::date)
 ORDER BY starts_at, id;

-- name: hearing_slots :many
SELECT floor(extract(epoch FROM starts_at) / 900)::bigint * 900 AS slot, count(*) AS n FROM hearing WHERE room = :room GROUP BY 1 ORDER BY 1;

-- name: hearing_chain :many
WITH RECURSIVE chain AS (
  SELECT h.id, h.moved_to FROM hearing h WHERE h.id = :id
  UNION
  SELECT h.id, h.moved_to FROM hearing h JOIN chain c ON h.id = c.moved_to
)
SELECT h.id, h.starts_at, h.state FROM hearing h WHERE h.id IN (SELECT id FROM chain) ORDER BY h.starts_at, h.id;

-- name: hearing_clash :many
SELECT id FROM hearing WHERE room = :room AND starts_at <= :ends AND starts_at + minutes * interval '1 minute' >= :starts ORDER BY id;

-- name: hearing_rooms :many
SELECT matter_id, count(room) AS rooms FROM hearing GROUP BY matter_id ORDER BY matter_id;

-- name: hearing_judges :many
SELECT h.id, j.name FROM hearing h JOIN judge j ON j.id = h.judge_id WHERE h.state = 'planned' ORDER BY h.id;

-- name: hearing_weekend :many
SELECT id FROM hearing WHERE extract(dow FROM starts_at AT TIME ZONE 'UTC') IN (6, 7) ORDER BY id;

-- name: hearing_stamp :many
SELECT id, to_char(starts_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MM') AS stamp FROM hearing ORDER BY id;

-- name: hearing_epoch :many
SELECT id, extract(epoch FROM starts_at)::bigint AS epoch FROM hearing WHERE matter_id = :matter ORDER BY id;

-- name: hearing_next :many
SELECT DISTINCT ON (matter_id) matter_id, id FROM hearing WHERE state = 'planned' ORDER BY matter_id, starts_at DESC, id;

-- name: hearing_label :many
SELECT h.id, h.room || ' - ' || COALESCE(j.chamber, '') AS label FROM hearing h LEFT JOIN judge j ON j.id = h.judge_id ORDER BY h.id;
