-- Lists known lanes in the order of their bytes, strictly after a cursor; all when it is empty.
-- name: lane_list :many
SELECT lane.lane_id FROM ff_lane_registry AS lane WHERE lane.lane_id > :after ORDER BY lane.lane_id LIMIT :page_size;
