-- name: lane_list :many
SELECT lane.lane_id FROM ff_lane_registry AS lane
 WHERE lane.lane_id COLLATE "C" > :after
 ORDER BY lane.lane_id COLLATE "C" LIMIT :page_size;
