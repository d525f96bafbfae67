-- name: tag_execution_set :rows
UPDATE ff_exec_core
   SET raw_fields = raw_fields
                    || jsonb_build_object('tags',
                                          CASE
                                            WHEN jsonb_typeof(raw_fields -> 'tags') = 'object' THEN raw_fields -> 'tags'
                                            ELSE '{}'
                                          END
                                          || jsonb_build_object(CAST(:tag_key AS text), CAST(:tag_value AS text)))
 WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- name: tag_flow_set :rows
UPDATE ff_flow_core SET raw_fields = raw_fields || jsonb_build_object(CAST(:tag_key AS text), CAST(:tag_value AS text))
 WHERE partition_key = :partition_key AND flow_id = :flow_id;
