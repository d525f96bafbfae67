-- case: end_by_key same
-- one
-- param: now_ms i64
UPDATE job SET state = 'ended', ended_at_ms = :now_ms WHERE id = :id AND epoch = :epoch AND state = 'running'
RETURNING id, lane;
-- list
-- rows: given(id i64 key, epoch i64, now_ms i64)
UPDATE job SET state = 'ended', ended_at_ms = given.now_ms FROM given
 WHERE job.id = given.id AND job.epoch = given.epoch AND job.state = 'running'
RETURNING given.ordinality, job.id, job.lane;
-- case: another_word differs
-- one
UPDATE job SET state = 'ended' WHERE id = :id AND state = 'running' RETURNING id;
-- list
-- rows: given(id i64 key)
UPDATE job SET state = 'failed' FROM given WHERE job.id = given.id AND job.state = 'running'
RETURNING job.id;
-- case: lost_condition differs
-- one
UPDATE job SET state = 'ended' WHERE id = :id AND epoch = :epoch AND state = 'running' RETURNING id;
-- list
-- rows: given(id i64 key, epoch i64)
UPDATE job SET state = 'ended' FROM given
 WHERE job.id = given.id AND job.epoch >= given.epoch AND job.state = 'running'
RETURNING job.id;
-- case: answers_of_each_other differs
-- one
UPDATE job SET epoch = epoch + 1 WHERE id = :id RETURNING epoch;
-- list
-- rows: given(id i64 key)
-- column: ordinality i64
WITH ended AS (
  UPDATE job SET epoch = job.epoch + 1 FROM given WHERE job.id = given.id RETURNING job.id, job.epoch
)
SELECT row_number() OVER (ORDER BY ended.id) AS ordinality, ended.epoch FROM ended;
-- case: the_first_alone differs
-- one
UPDATE job SET epoch = epoch + 1 WHERE id = :id RETURNING id;
-- list
-- rows: given(id i64 key)
UPDATE job SET epoch = job.epoch + 1 FROM given WHERE job.id = given.id AND given.ordinality = 1
RETURNING job.id;
-- case: counted_together same
-- one
INSERT INTO tally (lane, total) VALUES (:lane, :more)
ON CONFLICT (lane) DO UPDATE SET total = tally.total + excluded.total RETURNING lane;
-- list
-- rows: given(lane text key, more i64)
INSERT INTO tally (lane, total) SELECT given.lane, given.more FROM given WHERE true
ON CONFLICT (lane) DO UPDATE SET total = tally.total + excluded.total RETURNING lane;
-- case: counted_anew differs
-- one
INSERT INTO tally (lane, total) VALUES (:lane, :more)
ON CONFLICT (lane) DO UPDATE SET total = tally.total + excluded.total RETURNING lane;
-- list
-- rows: given(lane text key, more i64)
INSERT INTO tally (lane, total) SELECT given.lane, given.more FROM given WHERE true
ON CONFLICT (lane) DO UPDATE SET total = excluded.total RETURNING lane;
-- case: whole_or_nothing same
-- one
UPDATE job SET state = 'ended' WHERE id = :id AND state = 'running' RETURNING id;
-- list
-- rows: given(id i64 key)
WITH ended AS (
  UPDATE job SET state = 'ended' FROM given WHERE job.id = given.id AND job.state = 'running' RETURNING job.id
)
SELECT given.id FROM given LEFT JOIN ended ON ended.id = given.id
 WHERE 1 / CASE WHEN ended.id IS NULL THEN 0 ELSE 1 END = 1;
-- case: refused_without_a_reason differs
-- one
UPDATE job SET state = 'ended' WHERE id = :id AND state = 'running' RETURNING id;
-- list
-- rows: given(id i64 key)
WITH ended AS (
  UPDATE job SET state = 'ended' FROM given WHERE job.id = given.id AND job.state = 'running' RETURNING job.id, job.epoch
)
SELECT given.id FROM given LEFT JOIN ended ON ended.id = given.id
 WHERE 1 / CASE WHEN ended.id IS NULL OR ended.epoch = 0 THEN 0 ELSE 1 END = 1;
-- case: removed_with_its_notes same
-- one
DELETE FROM job WHERE id = :id AND state = 'ended' RETURNING id;
-- list
-- rows: given(id i64 key)
DELETE FROM job USING given WHERE job.id = given.id AND job.state = 'ended' RETURNING job.id;
-- case: a_list_of_words same
-- one
-- param: words text[]
INSERT INTO note (job_id, words) VALUES (:job_id, :words) RETURNING job_id;
-- list
-- rows: given(job_id i64, words json)
WITH written AS (
  INSERT INTO note (job_id, words)
  SELECT given.job_id, ARRAY(SELECT jsonb_array_elements_text(given.words)) FROM given
  RETURNING job_id
)
SELECT given.ordinality, given.job_id FROM given WHERE EXISTS (SELECT 1 FROM written);
-- case: nothing_for_null differs
-- one
-- param: lane text null
UPDATE job SET lane = COALESCE(:lane, 'none') WHERE id = :id RETURNING id;
-- list
-- rows: given(id i64 key, lane text null)
UPDATE job SET lane = given.lane FROM given WHERE job.id = given.id AND given.lane IS NOT NULL RETURNING job.id;
-- case: does_less_and_fails same or fails — an ended one is done alone.
-- one
UPDATE job SET epoch = epoch + 1 WHERE id = :id RETURNING id;
-- list
-- rows: given(id i64 key)
-- column: id i64
WITH done AS (
  UPDATE job SET epoch = job.epoch + 1 FROM given WHERE job.id = given.id AND job.state <> 'ended' RETURNING job.id
)
SELECT given.id FROM given LEFT JOIN done ON done.id = given.id
 WHERE 1 / CASE WHEN done.id IS NULL THEN 0 ELSE 1 END = 1;
-- case: does_less_and_something_else differs or fails — an ended one is done alone.
-- one
UPDATE job SET epoch = epoch + 1 WHERE id = :id RETURNING id;
-- list
-- rows: given(id i64 key)
-- column: id i64
WITH done AS (
  UPDATE job SET epoch = job.epoch + 2 FROM given WHERE job.id = given.id AND job.state <> 'ended' RETURNING job.id
)
SELECT given.id FROM given LEFT JOIN done ON done.id = given.id
 WHERE 1 / CASE WHEN done.id IS NULL THEN 0 ELSE 1 END = 1;
-- case: passes_one_over differs
-- one
UPDATE job SET state = 'ended' WHERE id = :id AND state = 'running' RETURNING id;
-- list
-- rows: given(id i64 key)
UPDATE job SET state = 'ended' FROM given WHERE job.id = given.id AND job.state = 'running' AND job.lane <> 'slow'
RETURNING job.id;
