-- name: hearing_day :many
-- param: day date
SELECT h.id, m.reference, j.name AS judge
  FROM hearing h JOIN matter m ON m.id = h.matter_id LEFT JOIN judge j ON j.id = h.judge_id
 WHERE m.court_id = :court
   AND h.starts_at >= unixepoch(:day) * 1000 AND h.starts_at < unixepoch(:day, '+1 day') * 1000
 ORDER BY h.starts_at, h.id;

-- name: hearing_running :many
SELECT id, room FROM hearing WHERE starts_at <= :now AND starts_at + minutes * 60000 > :now AND state = 'planned' ORDER BY room, id;

-- name: hearing_cancel :rows
UPDATE hearing SET state = 'cancelled'
 WHERE state = 'planned' AND matter_id IN (SELECT id FROM matter WHERE court_id = :court AND closed_on IS NOT NULL);

-- name: hearing_load :many
SELECT j.id, j.name, coalesce(sum(CASE WHEN h.state = 'held' THEN h.minutes END), 0) AS minutes
  FROM judge j LEFT JOIN hearing h ON h.judge_id = j.id
 WHERE j.court_id = :court GROUP BY j.id, j.name ORDER BY j.id;

-- name: hearing_month :many
-- param: day date
SELECT id FROM hearing
 WHERE starts_at >= unixepoch(:day, 'start of month') * 1000
   AND starts_at < unixepoch(:day, 'start of month', '+1 month') * 1000
 ORDER BY starts_at, id;

-- name: hearing_slots :many
SELECT starts_at / 900000 * 900 AS slot, count(*) AS n FROM hearing WHERE room = :room GROUP BY slot ORDER BY slot;

-- name: hearing_chain :many
WITH RECURSIVE chain (id) AS (
  SELECT h.id FROM hearing h WHERE h.id = :id
  UNION
  SELECT h.moved_to FROM chain c JOIN hearing h ON h.id = c.id WHERE h.moved_to IS NOT NULL
)
SELECT h.id, h.starts_at, h.state FROM chain c JOIN hearing h ON h.id = c.id ORDER BY h.starts_at, h.id;

-- name: hearing_clash :many
SELECT id FROM hearing WHERE room = :room AND starts_at < :ends AND starts_at + minutes * 60000 > :starts ORDER BY id;

-- name: hearing_rooms :many
SELECT matter_id, count(DISTINCT room) AS rooms FROM hearing GROUP BY matter_id ORDER BY matter_id;

-- name: hearing_judges :many
SELECT h.id, j.name FROM hearing h LEFT JOIN judge j ON j.id = h.judge_id WHERE h.state = 'planned' ORDER BY h.id;

-- name: hearing_weekend :many
SELECT id FROM hearing WHERE strftime('%w', starts_at / 1000, 'unixepoch') IN ('0', '6') ORDER BY id;

-- name: hearing_stamp :many
SELECT id, strftime('%Y%m%d%H%M', starts_at / 1000, 'unixepoch') AS stamp FROM hearing ORDER BY id;

-- name: hearing_epoch :many
SELECT id, starts_at / 1000 AS epoch FROM hearing WHERE matter_id = :matter ORDER BY id;

-- name: hearing_next :many
SELECT matter_id, id FROM (
  SELECT matter_id, id, row_number() OVER (PARTITION BY matter_id ORDER BY starts_at, id) AS nth FROM hearing WHERE state = 'planned'
) WHERE nth = 1 ORDER BY matter_id;

-- name: hearing_label :many
SELECT h.id, h.room || coalesce(' - ' || j.chamber, '') AS label FROM hearing h LEFT JOIN judge j ON j.id = h.judge_id ORDER BY h.id;
