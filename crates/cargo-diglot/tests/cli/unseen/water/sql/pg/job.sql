-- name: job_note :rows
-- param: what text
UPDATE job SET log = log || to_jsonb(:what::text) WHERE id = :id;

-- name: job_take :opt
UPDATE job SET state = 'taken', crew = :crew, version = :version + 1 WHERE id = :id AND version = :version AND state = 'open' RETURNING version;

-- name: job_shorten :rows
UPDATE job SET log = log - (-1) WHERE id = :id AND jsonb_array_length(log) > 1;

-- name: job_next :opt
UPDATE job SET state = 'taken', crew = :crew
 WHERE id = (SELECT id FROM job WHERE state = 'open' ORDER BY priority, due_on, id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id;
