-- name: job_note :rows
-- param: what text
UPDATE job SET log = json_insert(log, '$[#]', :what) WHERE id = :id;

-- name: job_take :opt
UPDATE job SET state = 'taken', crew = :crew, version = version + 1 WHERE id = :id AND version = :version AND state = 'open' RETURNING version;

-- name: job_shorten :rows
UPDATE job SET log = json_remove(log, '$[0]') WHERE id = :id AND json_array_length(log) > 1;

-- name: job_next :opt
UPDATE job SET state = 'taken', crew = :crew WHERE id = (SELECT id FROM job WHERE state = 'open' ORDER BY priority DESC, due_on, id LIMIT 1) RETURNING id;
