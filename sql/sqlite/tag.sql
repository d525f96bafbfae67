-- Sets a tag of an execution; the dots are part of the key, not a path. No row: there is no such execution.
-- name: tag_execution_set :rows
-- param: tag_key text, tag_value text
UPDATE ff_exec_core
   SET raw_fields = json_patch(raw_fields, json_object('tags', json_object(:tag_key, CAST(:tag_value AS text))))
 WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- Sets a tag of a flow, a member of its open document. No row: there is no such flow.
-- name: tag_flow_set :rows
-- param: tag_key text, tag_value text
UPDATE ff_flow_core SET raw_fields = json_patch(raw_fields, json_object(:tag_key, CAST(:tag_value AS text)))
 WHERE partition_key = :partition_key AND flow_id = :flow_id;

-- Reads the open document of a flow, which holds its tags.
-- name: tag_flow_read :opt
-- both
SELECT flow.raw_fields FROM ff_flow_core AS flow WHERE flow.partition_key = :partition_key AND flow.flow_id = :flow_id;
