-- name: room_with :many
-- param: wanted text[]
SELECT id FROM room WHERE features @> to_jsonb(:wanted::text[]) ORDER BY id;

-- name: room_any :many
-- param: wanted text[]
SELECT id FROM room WHERE features ?| :wanted::text[] ORDER BY id;

-- name: room_free :many
-- param: from_day date
-- param: to_day date
SELECT r.id FROM room r
  LEFT JOIN booking b ON b.room_id = r.id AND b.cancelled_at IS NULL AND b.from_on < :to_day AND b.to_on > :from_day
 WHERE b.id IS NULL AND NOT r.closed ORDER BY r.id;

-- name: room_kinds :many
SELECT kind, min(rate_cents) AS least, max(rate_cents) AS most FROM room GROUP BY kind
 ORDER BY array_position(ARRAY['single', 'double', 'suite'], kind);

-- name: room_raise :rows
UPDATE room SET rate_cents = rate_cents + rate_cents / 10 WHERE kind = :kind AND rate_cents <= 900000;

-- name: room_by_code :many
SELECT id, code FROM room ORDER BY code;

-- name: room_discount :many
SELECT id, round(rate_cents * 0.9)::bigint AS cents FROM room ORDER BY id;

-- name: room_featured :many
SELECT r.id FROM room r, jsonb_array_elements_text(r.features) AS f ORDER BY r.id;

-- name: room_feature_add :rows
-- param: feature text
UPDATE room SET features = features || jsonb_build_array(:feature::text) WHERE id = :id;

-- name: room_below :many
SELECT id FROM room WHERE floor < 0 ORDER BY floor, id;
