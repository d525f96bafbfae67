-- name: pinned_read :opt
-- only: pg — the case is about shards
SELECT job.state FROM job WHERE job.part = :part AND job.id = :id;

-- name: free_read :many
-- only: pg — the case is about shards
SELECT job.state FROM job WHERE job.id = :id;

-- name: either_read :many
-- only: pg — the case is about shards
SELECT job.state FROM job WHERE job.part = :part OR job.id = :id;

-- name: one_of_one_read :many
-- only: pg — the case is about shards
SELECT job.state FROM job WHERE job.part IN (:part) AND job.id = :id;

-- name: one_of_two_read :many
-- only: pg — the case is about shards
SELECT job.state FROM job WHERE job.part IN (:part, :other) AND job.id = :id;

-- name: between_read :many
-- only: pg — the case is about shards
SELECT job.state FROM job WHERE job.part BETWEEN :low AND :high;

-- name: literal_read :many
-- only: pg — the case is about shards
SELECT job.state FROM job WHERE job.part = 3;

-- name: tuple_read :many
-- only: pg — the case is about shards
SELECT job.state FROM job WHERE (job.part, job.id) = (:part, :id);

-- name: tuple_after_read :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE (job.part, job.id) > (:part, :id) ORDER BY job.part, job.id LIMIT 5;

-- name: join_by_key :many
-- only: pg — the case is about shards
SELECT job.id, note.body FROM job JOIN note ON note.part = job.part AND note.job_id = job.id WHERE job.part = :part;

-- name: join_without_key :many
-- only: pg — the case is about shards
SELECT job.id, note.body FROM job JOIN note ON note.job_id = job.id WHERE job.part = :part;

-- name: join_each_pinned :many
-- only: pg — the case is about shards
SELECT job.id, note.body FROM job JOIN note ON note.job_id = job.id WHERE job.part = :part AND note.part = :part;

-- name: join_two_keys :many
-- only: pg — the case is about shards
SELECT job.id, note.body FROM job JOIN note ON note.job_id = job.id WHERE job.part = :part AND note.part = :other;

-- name: join_left_by_key :many
-- only: pg — the case is about shards
SELECT job.id, note.body FROM job LEFT JOIN note ON note.part = job.part AND note.job_id = job.id WHERE job.part = :part;

-- name: join_left_pins_left_in_on :many
-- only: pg — the case is about shards
SELECT job.id, note.body FROM job LEFT JOIN note ON note.part = job.part AND note.job_id = job.id AND job.part = :part;

-- name: join_left_pins_right_alone :many
-- only: pg — the case is about shards
SELECT job.id, note.body FROM job LEFT JOIN note ON note.part = job.part AND note.job_id = job.id AND note.part = :part;

-- name: join_left_pinned_by_right :many
-- only: pg — the case is about shards
SELECT job.id, note.body FROM job LEFT JOIN note ON note.part = job.part AND note.job_id = job.id WHERE note.part = :part;

-- name: join_reference :many
-- only: pg — the case is about shards
SELECT job.id, lane.weight FROM job JOIN lane ON lane.name = job.lane WHERE job.part = :part;

-- name: join_local :many
-- only: pg — the case is about shards
SELECT job.id, setting.value FROM job JOIN setting ON setting.name = job.lane WHERE job.part = :part;

-- name: local_read :opt
-- only: pg — the case is about shards
SELECT setting.value FROM setting WHERE setting.name = :name;

-- name: local_lock :opt
-- only: pg — the case is about shards
SELECT setting.value FROM setting WHERE setting.name = :name FOR UPDATE;

-- name: reference_read :opt
-- only: pg — the case is about shards
SELECT lane.weight FROM lane WHERE lane.name = :name;

-- name: exists_by_key :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE job.part = :part AND EXISTS (SELECT 1 FROM note WHERE note.part = job.part AND note.job_id = job.id);

-- name: not_exists_by_key :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE job.part = :part AND NOT EXISTS (SELECT 1 FROM note WHERE note.part = job.part AND note.job_id = job.id);

-- name: exists_under_or :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE job.part = :part AND (job.tries > 3 OR EXISTS (SELECT 1 FROM note WHERE note.part = job.part AND note.job_id = job.id));

-- name: exists_under_or_pinned :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE job.part = :part AND (job.tries > 3 OR EXISTS (SELECT 1 FROM note WHERE note.part = :part AND note.job_id = job.id));

-- name: scalar_by_key :many
-- only: pg — the case is about shards
SELECT job.id, (SELECT count(*) FROM note WHERE note.part = job.part AND note.job_id = job.id) AS notes FROM job WHERE job.part = :part;

-- name: scalar_pinned :many
-- only: pg — the case is about shards
SELECT job.id, (SELECT count(*) FROM note WHERE note.part = :part AND note.job_id = job.id) AS notes FROM job WHERE job.part = :part;

-- name: member_pinned :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE job.part = :part AND job.id IN (SELECT note.job_id FROM note WHERE note.part = :part);

-- name: member_free :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE job.part = :part AND job.id IN (SELECT note.job_id FROM note);

-- name: member_by_key :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE job.part IN (SELECT note.part FROM note WHERE note.part = :part);

-- name: derived_plain :many
-- only: pg — the case is about shards
SELECT d.id FROM (SELECT job.part, job.id FROM job) AS d WHERE d.part = :part;

-- name: derived_grouped :many
-- only: pg — the case is about shards
SELECT d.c FROM (SELECT job.part, count(*) AS c FROM job GROUP BY job.part) AS d WHERE d.part = :part;

-- name: derived_limited :many
-- only: pg — the case is about shards
SELECT d.id FROM (SELECT job.part, job.id FROM job ORDER BY job.id LIMIT 5) AS d WHERE d.part = :part;

-- name: cte_once :many
-- only: pg — the case is about shards
WITH found AS (SELECT job.part, job.id FROM job WHERE job.part = :part) SELECT note.body FROM found JOIN note ON note.part = found.part AND note.job_id = found.id;

-- name: cte_kept :many
-- only: pg — the case is about shards
WITH found AS MATERIALIZED (SELECT job.part, job.id FROM job WHERE job.part = :part) SELECT note.body FROM found JOIN note ON note.part = found.part AND note.job_id = found.id;

-- name: cte_kept_pinned :many
-- only: pg — the case is about shards
WITH found AS MATERIALIZED (SELECT job.part, job.id FROM job WHERE job.part = :part) SELECT note.body FROM found JOIN note ON note.part = :part AND note.job_id = found.id;

-- name: cte_twice :many
-- only: pg — the case is about shards
WITH found AS (SELECT job.part, job.id FROM job WHERE job.part = :part) SELECT a.id FROM found AS a JOIN found AS b ON b.id = a.id + 1;

-- name: cte_free :many
-- only: pg — the case is about shards
WITH found AS (SELECT job.part, job.id FROM job ORDER BY job.id LIMIT 3) SELECT found.id FROM found;

-- name: cte_pinned_from_outside :many
-- only: pg — the case is about shards
WITH found AS (SELECT job.part, job.id FROM job) SELECT found.id FROM found WHERE found.part = :part;

-- name: union_pinned :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE job.part = :part UNION ALL SELECT note.job_id FROM note WHERE note.part = :part;

-- name: union_half :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE job.part = :part UNION ALL SELECT note.job_id FROM note;

-- name: lock_pinned :opt
-- only: pg — the case is about shards
SELECT job.state FROM job WHERE job.part = :part AND job.id = :id FOR UPDATE;

-- name: lock_free :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE job.lane = :lane ORDER BY job.id LIMIT 1 FOR UPDATE SKIP LOCKED;

-- name: lock_reference_join :many
-- only: pg — the case is about shards
SELECT job.id FROM job JOIN lane ON lane.name = job.lane WHERE job.part = :part FOR UPDATE OF job;

-- name: insert_plain :exec
-- only: pg — the case is about shards
INSERT INTO job (part, id, lane, state) VALUES (:part, :id, :lane, 'waiting');

-- name: insert_two_same :exec
-- only: pg — the case is about shards
INSERT INTO event (part, event_id, job_id, kind) VALUES (:part, 1, :id, 'a'), (:part, 2, :id, 'b');

-- name: insert_two_shards :exec
-- only: pg — the case is about shards
INSERT INTO event (part, event_id, job_id, kind) VALUES (1, 1, :id, 'a'), (2, 2, :id, 'b');

-- name: insert_without_key :exec
-- only: pg — the case is about shards
INSERT INTO event (event_id, job_id, kind) VALUES (1, :id, 'a');

-- name: insert_select_by_key :exec
-- only: pg — the case is about shards
INSERT INTO note (part, job_id, n, body) SELECT job.part, job.id, 1, job.state FROM job WHERE job.part = :part;

-- name: insert_select_by_param :exec
-- only: pg — the case is about shards
INSERT INTO note (part, job_id, n, body) SELECT :part, job.id, 1, job.state FROM job WHERE job.part = :part;

-- name: insert_select_free :exec
-- only: pg — the case is about shards
INSERT INTO note (part, job_id, n, body) SELECT job.part, job.id, 1, job.state FROM job WHERE job.lane = :lane;

-- name: insert_select_limited :exec
-- only: pg — the case is about shards
INSERT INTO note (part, job_id, n, body) SELECT job.part, job.id, 1, job.state FROM job WHERE job.part = :part ORDER BY job.id LIMIT 3;

-- name: insert_select_nothing :exec
-- only: pg — the case is about shards
INSERT INTO note (part, job_id, n, body) SELECT :part, CAST(:id AS bigint), 1, 'x' WHERE CAST(:id AS bigint) > 3;

-- name: insert_select_unnest :exec
-- only: pg — the case is about shards
-- param: ids i64[]
INSERT INTO note (part, job_id, n, body) SELECT :part, listed.id, 1, 'x' FROM unnest(CAST(:ids AS bigint[])) AS listed(id);

-- name: insert_select_local :exec
-- only: pg — the case is about shards
INSERT INTO note (part, job_id, n, body) SELECT :part, 1, 1, setting.value FROM setting;

-- name: insert_into_local :exec
-- only: pg — the case is about shards
INSERT INTO setting (name, value) SELECT job.lane, job.state FROM job WHERE job.part = :part;

-- name: insert_with :exec
-- only: pg — the case is about shards
WITH found AS (SELECT job.part, job.id FROM job WHERE job.part = :part) INSERT INTO note (part, job_id, n, body) SELECT found.part, found.id, 1, 'x' FROM found;

-- name: insert_in_cte :opt
-- only: pg — the case is about shards
WITH put AS (INSERT INTO event (part, event_id, job_id, kind) VALUES (:part, 1, :id, 'a') RETURNING event_id) SELECT put.event_id FROM put;

-- name: insert_beside_update :exec
-- only: pg — the case is about shards
WITH put AS (INSERT INTO event (part, event_id, job_id, kind) VALUES (:part, 1, :id, 'a')) UPDATE job SET state = 'done' WHERE part = :part AND id = :id;

-- name: upsert_plain :exec
-- only: pg — the case is about shards
INSERT INTO job (part, id, lane, state) VALUES (:part, :id, :lane, 'waiting') ON CONFLICT (part, id) DO UPDATE SET state = excluded.state, tries = job.tries + 1;

-- name: upsert_json :exec
-- only: pg — the case is about shards
INSERT INTO job (part, id, lane, state) VALUES (:part, :id, :lane, 'waiting') ON CONFLICT (part, id) DO UPDATE SET raw = job.raw || jsonb_build_object('again', 1);

-- name: upsert_json_member :exec
-- only: pg — the case is about shards
INSERT INTO job (part, id, lane, state) VALUES (:part, :id, :lane, 'waiting') ON CONFLICT (part, id) DO UPDATE SET raw = jsonb_set(job.raw, '{again}', '1');

-- name: upsert_where_moving :exec
-- only: pg — the case is about shards
INSERT INTO job (part, id, lane, state) VALUES (:part, :id, :lane, 'waiting') ON CONFLICT (part, id) DO UPDATE SET state = 'again' WHERE job.seen < now();

-- name: upsert_key :exec
-- only: pg — the case is about shards
INSERT INTO job (part, id, lane, state) VALUES (:part, :id, :lane, 'waiting') ON CONFLICT (part, id) DO UPDATE SET part = excluded.part + 1;

-- name: upsert_nothing :exec
-- only: pg — the case is about shards
INSERT INTO job (part, id, lane, state) VALUES (:part, :id, :lane, 'waiting') ON CONFLICT (part, id) DO NOTHING;

-- name: update_pinned :exec
-- only: pg — the case is about shards
UPDATE job SET state = 'done' WHERE part = :part AND id = :id;

-- name: update_free :exec
-- only: pg — the case is about shards
UPDATE job SET state = 'done' WHERE lane = :lane;

-- name: update_key :exec
-- only: pg — the case is about shards
UPDATE job SET part = :other WHERE part = :part AND id = :id;

-- name: update_key_to_itself :exec
-- only: pg — the case is about shards
UPDATE job SET part = part, state = 'done' WHERE part = :part AND id = :id;

-- name: update_json_param :exec
-- only: pg — the case is about shards
UPDATE job SET raw = raw || jsonb_build_object('by', CAST(:who AS text)) WHERE part = :part AND id = :id;

-- name: update_json_column :exec
-- only: pg — the case is about shards
UPDATE job SET raw = raw || jsonb_build_object('due', due_ms) WHERE part = :part AND id = :id;

-- name: update_json_case :exec
-- only: pg — the case is about shards
UPDATE job SET raw = CASE WHEN tries > 3 THEN raw ELSE raw || jsonb_build_object('by', CAST(:who AS text)) END WHERE part = :part AND id = :id;

-- name: update_case_fixed :exec
-- only: pg — the case is about shards
UPDATE job SET tries = CASE WHEN tries > 3 THEN 0 ELSE tries + 1 END, due_ms = COALESCE(due_ms, :now_ms) WHERE part = :part AND id = :id;

-- name: update_now :exec
-- only: pg — the case is about shards
UPDATE job SET seen = now() WHERE part = :part AND id = :id;

-- name: update_clock :exec
-- only: pg — the case is about shards
UPDATE job SET seen = clock_timestamp() WHERE part = :part AND id = :id;

-- name: update_coalesce_now :exec
-- only: pg — the case is about shards
UPDATE job SET seen = COALESCE(seen, now()) WHERE part = :part AND id = :id;

-- name: update_number_as_text :exec
-- only: pg — the case is about shards
UPDATE job SET lane = CASE WHEN tries > 3 THEN 'late' ELSE CAST(tries AS text) END WHERE part = :part AND id = :id;

-- name: update_time_as_text :exec
-- only: pg — the case is about shards
UPDATE job SET lane = CASE WHEN tries > 3 THEN 'late' ELSE CAST(seen AS text) END WHERE part = :part AND id = :id;

-- name: update_returning :opt
-- only: pg — the case is about shards
UPDATE job SET state = 'done' WHERE part = :part AND id = :id RETURNING tries;

-- name: update_returning_moving :opt
-- only: pg — the case is about shards
UPDATE job SET state = 'done' WHERE part = :part AND id = :id RETURNING jsonb_build_object('tries', tries) AS told;

-- name: update_where_moving :exec
-- only: pg — the case is about shards
UPDATE job SET state = 'done' WHERE part = :part AND seen < now();

-- name: update_where_random :exec
-- only: pg — the case is about shards
UPDATE job SET state = 'done' WHERE part = :part AND tries < random() * 10;

-- name: update_from_by_key :exec
-- only: pg — the case is about shards
UPDATE job SET state = note.body FROM note WHERE job.part = :part AND note.part = job.part AND note.job_id = job.id;

-- name: update_from_cte :exec
-- only: pg — the case is about shards
WITH found AS (SELECT job.part, job.id FROM job WHERE job.part = :part AND job.lane = :lane FOR UPDATE) UPDATE job SET state = 'done' FROM found WHERE job.part = found.part AND job.id = found.id;

-- name: update_from_cte_pinned :exec
-- only: pg — the case is about shards
WITH found AS (SELECT job.part, job.id FROM job WHERE job.part = :part AND job.lane = :lane FOR UPDATE) UPDATE job SET state = 'done' FROM found WHERE job.part = :part AND job.id = found.id;

-- name: update_in_cte :opt
-- only: pg — the case is about shards
WITH fence AS (SELECT job.id FROM job WHERE job.part = :part AND job.id = :id FOR UPDATE), done AS (UPDATE note SET body = '' WHERE note.part = :part AND note.job_id = :id AND EXISTS (SELECT 1 FROM fence)) SELECT fence.id FROM fence;

-- name: update_in_cte_other_shard :opt
-- only: pg — the case is about shards
WITH done AS (UPDATE note SET body = '' WHERE note.part = :other RETURNING note.job_id) SELECT job.state FROM job JOIN done ON done.job_id = job.id WHERE job.part = :part;

-- name: delete_pinned :rows
-- only: pg — the case is about shards
DELETE FROM note WHERE part = :part AND job_id = :id;

-- name: delete_using :rows
-- only: pg — the case is about shards
DELETE FROM note USING job WHERE job.part = :part AND note.part = job.part AND note.job_id = job.id AND job.state = 'done';

-- name: delete_cte_and_update :exec
-- only: pg — the case is about shards
WITH gone AS (DELETE FROM note WHERE part = :part AND job_id = :id) UPDATE job SET state = 'done' WHERE part = :part AND id = :id;

-- name: update_reference :exec
-- only: pg — the case is about shards
UPDATE lane SET weight = :weight WHERE name = :name;

-- name: update_reference_beside :exec
-- only: pg — the case is about shards
WITH done AS (UPDATE job SET state = 'done' WHERE part = :part AND id = :id) UPDATE lane SET weight = 1 WHERE name = :name;

-- name: recursive_pinned :many
-- only: pg — the case is about shards
WITH RECURSIVE chain AS (SELECT job.id FROM job WHERE job.part = :part AND job.id = :id UNION SELECT note.n FROM chain JOIN note ON note.part = :part AND note.job_id = chain.id) SELECT chain.id FROM chain;

-- name: lateral_by_key :many
-- only: pg — the case is about shards
SELECT job.id, last.body FROM job CROSS JOIN LATERAL (SELECT note.body FROM note WHERE note.part = job.part AND note.job_id = job.id ORDER BY note.n DESC LIMIT 1) AS last WHERE job.part = :part;

-- name: lateral_pinned :many
-- only: pg — the case is about shards
SELECT job.id, last.body FROM job CROSS JOIN LATERAL (SELECT note.body FROM note WHERE note.part = :part AND note.job_id = job.id ORDER BY note.n DESC LIMIT 1) AS last WHERE job.part = :part;

-- name: any_of_list :many
-- only: pg — the case is about shards
-- param: parts i64[]
SELECT job.id FROM job WHERE job.part = ANY(:parts);

-- name: unnest_join :many
-- only: pg — the case is about shards
-- param: ids i64[]
SELECT job.id FROM unnest(CAST(:ids AS bigint[])) AS listed(id) JOIN job ON job.part = :part AND job.id = listed.id;

-- name: count_all :one
-- only: pg — the case is about shards
SELECT count(*) AS c FROM job;

-- name: nowhere :one
-- only: pg — the case is about shards
SELECT 1 AS one;

-- name: insert_select_numbered :exec
-- only: pg — the case is about shards
INSERT INTO drawn (part, token, job_id) SELECT job.part, '00000000-0000-0000-0000-000000000000', job.id FROM job WHERE job.part = 3;

-- name: insert_select_default_drawn :exec
-- only: pg — the case is about shards
INSERT INTO drawn (part, id, job_id) SELECT job.part, job.id, job.id FROM job WHERE job.part = 3;

-- name: insert_values_numbered :exec
-- only: pg — the case is about shards
INSERT INTO drawn (part, job_id) VALUES (:part, :id);

-- name: not_in_pinned :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE job.part = :part AND job.id NOT IN (SELECT note.job_id FROM note WHERE note.part = :part);

-- name: not_in_by_key :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE job.part = :part AND job.id NOT IN (SELECT note.job_id FROM note WHERE note.part = job.part);

-- name: tuple_member :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE job.part = :part AND (job.part, job.id) IN (SELECT note.part, note.job_id FROM note);

-- name: tuple_member_grouped :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE job.part = :part AND (job.part, job.id) IN (SELECT note.part, note.job_id FROM note GROUP BY note.part, note.job_id);

-- name: distinct_pinned :many
-- only: pg — the case is about shards
SELECT DISTINCT job.lane FROM job WHERE job.part = :part;

-- name: derived_distinct :many
-- only: pg — the case is about shards
SELECT d.lane FROM (SELECT DISTINCT job.part, job.lane FROM job) AS d WHERE d.part = :part;

-- name: derived_window :many
-- only: pg — the case is about shards
SELECT d.id FROM (SELECT job.part, job.id, row_number() OVER (PARTITION BY job.part ORDER BY job.id) AS place FROM job) AS d WHERE d.part = :part AND d.place < 3;

-- name: derived_joined_left :many
-- only: pg — the case is about shards
SELECT job.id, d.c FROM job LEFT JOIN (SELECT note.part, note.job_id, count(*) AS c FROM note GROUP BY note.part, note.job_id) AS d ON d.part = job.part AND d.job_id = job.id WHERE job.part = :part;

-- name: derived_union :many
-- only: pg — the case is about shards
SELECT d.id FROM (SELECT job.part, job.id FROM job UNION ALL SELECT note.part, note.job_id FROM note) AS d WHERE d.part = :part;

-- name: nested_twice :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE job.part = :part AND EXISTS (SELECT 1 FROM note WHERE note.part = job.part AND EXISTS (SELECT 1 FROM event WHERE event.part = note.part AND event.job_id = note.job_id));

-- name: exists_with_limit :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE job.part = :part AND EXISTS (SELECT 1 FROM note WHERE note.part = job.part AND note.job_id = job.id LIMIT 1);

-- name: exists_not_in_case :many
-- only: pg — the case is about shards
SELECT job.id, CASE WHEN EXISTS (SELECT 1 FROM note WHERE note.part = job.part AND note.job_id = job.id) THEN 1 ELSE 0 END AS noted FROM job WHERE job.part = :part;

-- name: having_scalar :many
-- only: pg — the case is about shards
SELECT job.lane, count(*) AS c FROM job WHERE job.part = :part GROUP BY job.lane HAVING count(*) > (SELECT min(note.n) FROM note WHERE note.part = :part);

-- name: values_joined :many
-- only: pg — the case is about shards
SELECT job.id FROM job JOIN (VALUES (1, 2), (3, 4)) AS v (a, b) ON v.a = job.tries WHERE job.part = :part;

-- name: chain_of_three :many
-- only: pg — the case is about shards
SELECT event.kind FROM job JOIN note ON note.part = job.part AND note.job_id = job.id JOIN event ON event.part = note.part AND event.job_id = note.job_id WHERE event.part = :part;

-- name: chain_broken :many
-- only: pg — the case is about shards
SELECT event.kind FROM job JOIN note ON note.part = job.part AND note.job_id = job.id JOIN event ON event.job_id = note.job_id WHERE job.part = :part;

-- name: chain_over_left :many
-- only: pg — the case is about shards
SELECT event.kind FROM job LEFT JOIN note ON note.part = job.part AND note.job_id = job.id LEFT JOIN event ON event.part = note.part AND event.job_id = note.job_id WHERE job.part = :part;

-- name: right_join_by_key :many
-- only: pg — the case is about shards
SELECT job.id FROM note RIGHT JOIN job ON note.part = job.part AND note.job_id = job.id WHERE job.part = :part;

-- name: full_join_by_key :many
-- only: pg — the case is about shards
SELECT job.id FROM note FULL JOIN job ON note.part = job.part AND note.job_id = job.id WHERE job.part = :part;

-- name: cte_of_cte :many
-- only: pg — the case is about shards
WITH a AS (SELECT job.part, job.id FROM job), b AS (SELECT a.part, a.id FROM a WHERE a.id > 3) SELECT b.id FROM b WHERE b.part = :part;

-- name: cte_not_materialized_twice :many
-- only: pg — the case is about shards
WITH a AS NOT MATERIALIZED (SELECT job.part, job.id FROM job) SELECT x.id FROM a AS x JOIN a AS y ON y.part = x.part AND y.id = x.id WHERE x.part = :part;

-- name: update_set_subquery_pinned :exec
-- only: pg — the case is about shards
UPDATE job SET tries = (SELECT count(*) FROM note WHERE note.part = :part AND note.job_id = job.id) WHERE part = :part AND id = :id;

-- name: update_set_subquery_by_key :exec
-- only: pg — the case is about shards
UPDATE job SET tries = (SELECT count(*) FROM note WHERE note.part = job.part AND note.job_id = job.id) WHERE part = :part AND id = :id;

-- name: delete_exists :rows
-- only: pg — the case is about shards
DELETE FROM note WHERE note.part = :part AND EXISTS (SELECT 1 FROM job WHERE job.part = note.part AND job.id = note.job_id AND job.state = 'done');

-- name: delete_picked :rows
-- only: pg — the case is about shards
DELETE FROM note WHERE note.part = :part AND note.job_id IN (SELECT job.id FROM job WHERE job.part = :part ORDER BY job.id LIMIT 3 FOR UPDATE SKIP LOCKED);

-- name: delete_picked_free :rows
-- only: pg — the case is about shards
DELETE FROM note WHERE (note.part, note.job_id) IN (SELECT job.part, job.id FROM job WHERE job.state = 'done' ORDER BY job.id LIMIT 3);

-- name: update_reads_reference :exec
-- only: pg — the case is about shards
UPDATE job SET tries = lane.weight FROM lane WHERE lane.name = job.lane AND job.part = :part;

-- name: update_reads_local :exec
-- only: pg — the case is about shards
UPDATE job SET lane = setting.value FROM setting WHERE setting.name = job.lane AND job.part = :part;

-- name: update_concat_column :exec
-- only: pg — the case is about shards
UPDATE job SET lane = concat(lane, 'x') WHERE part = :part AND id = :id;

-- name: update_joined_text :exec
-- only: pg — the case is about shards
UPDATE job SET lane = lane || 'x' WHERE part = :part AND id = :id;

-- name: update_joined_number :exec
-- only: pg — the case is about shards
UPDATE job SET lane = lane || tries WHERE part = :part AND id = :id;

-- name: update_interval_column :exec
-- only: pg — the case is about shards
UPDATE job SET seen = seen + interval '1 hour' WHERE part = :part AND id = :id;

-- name: update_member_as_number :exec
-- only: pg — the case is about shards
UPDATE job SET due_ms = COALESCE(CAST(raw ->> 'due' AS bigint), 0) WHERE part = :part AND id = :id;

-- name: update_member_as_time :exec
-- only: pg — the case is about shards
UPDATE job SET seen = CASE WHEN tries > 1 THEN CAST(raw ->> 'at' AS timestamptz) ELSE seen END WHERE part = :part AND id = :id;

-- name: update_text_as_json :exec
-- only: pg — the case is about shards
UPDATE job SET raw = CASE WHEN due_ms IS NULL THEN raw ELSE jsonb_set(raw, '{due}', CAST(CAST(due_ms AS text) AS jsonb)) END WHERE part = :part AND id = :id;

-- name: update_to_json :exec
-- only: pg — the case is about shards
UPDATE job SET raw = CASE WHEN due_ms IS NULL THEN raw ELSE jsonb_set(raw, '{due}', to_jsonb(due_ms)) END WHERE part = :part AND id = :id;

-- name: update_lower :exec
-- only: pg — the case is about shards
UPDATE job SET lane = CASE WHEN tries > 3 THEN lower(lane) ELSE upper(lane) END WHERE part = :part AND id = :id;

-- name: upsert_reads_excluded :exec
-- only: pg — the case is about shards
INSERT INTO job (part, id, lane, state) VALUES (:part, :id, :lane, 'waiting') ON CONFLICT (part, id) DO UPDATE SET lane = concat(excluded.lane, 'x');

-- name: insert_now :exec
-- only: pg — the case is about shards
INSERT INTO job (part, id, lane, state, seen) VALUES (:part, :id, :lane, 'waiting', now());

-- name: insert_random :exec
-- only: pg — the case is about shards
INSERT INTO job (part, id, lane, state, seen) VALUES (:part, :id, :lane, 'waiting', clock_timestamp());

-- name: insert_subquery :exec
-- only: pg — the case is about shards
INSERT INTO note (part, job_id, n, body) VALUES (:part, :id, 1, (SELECT job.state FROM job WHERE job.part = :part AND job.id = :id));

-- name: insert_key_sum :exec
-- only: pg — the case is about shards
INSERT INTO note (part, job_id, n, body) VALUES (:part + 1, :id, 1, 'x');

-- name: select_random :many
-- only: pg — the case is about shards
SELECT job.id, random() AS r FROM job WHERE job.part = :part;

-- name: select_now_filter :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE job.part = :part AND job.seen < now();

-- name: update_returning_case_now :opt
-- only: pg — the case is about shards
UPDATE job SET state = 'done' WHERE part = :part AND id = :id RETURNING CASE WHEN seen < now() THEN 1 ELSE 0 END AS late;

-- name: cte_random_beside_update :exec
-- only: pg — the case is about shards
WITH found AS MATERIALIZED (SELECT job.id, random() AS r FROM job WHERE job.part = :part) UPDATE note SET body = 'x' FROM found WHERE note.part = :part AND note.job_id = found.id;

-- name: lock_join_pinned :many
-- only: pg — the case is about shards
SELECT job.id FROM job JOIN note ON note.part = job.part AND note.job_id = job.id WHERE job.part = :part FOR UPDATE OF job, note;

-- name: lock_two_keys :many
-- only: pg — the case is about shards
SELECT job.id FROM job JOIN note ON note.job_id = job.id WHERE job.part = :part AND note.part = :other FOR UPDATE OF job;

-- name: lock_beside_local :many
-- only: pg — the case is about shards
SELECT job.id FROM job JOIN setting ON setting.name = job.lane WHERE job.part = :part FOR UPDATE OF job;

-- name: lock_in_derived :many
-- only: pg — the case is about shards
SELECT d.id FROM (SELECT job.part, job.id FROM job WHERE job.lane = :lane ORDER BY job.id LIMIT 3 FOR UPDATE SKIP LOCKED) AS d;

-- name: generate_joined :many
-- only: pg — the case is about shards
SELECT job.id FROM generate_series(1, 3) AS g (n) JOIN job ON job.part = :part AND job.tries = g.n;

-- name: except_pinned :many
-- only: pg — the case is about shards
SELECT job.id FROM job WHERE job.part = :part EXCEPT SELECT note.job_id FROM note WHERE note.part = :part;

-- name: update_json_choice_inside :exec
-- only: pg — the case is about shards
UPDATE job SET raw = raw || jsonb_build_object('late', CASE WHEN tries > 3 THEN 1 ELSE 0 END) WHERE part = :part AND id = :id;


-- name: update_json_count_inside :exec
-- only: pg — the case is about shards
UPDATE job SET raw = raw || jsonb_build_object('notes', (SELECT count(*) FROM note WHERE note.part = :part AND note.job_id = :id)) WHERE part = :part AND id = :id;

-- name: update_case_operand :exec
-- only: pg — the case is about shards
UPDATE job SET tries = CASE job.state WHEN 'late' THEN 5 ELSE job.tries END WHERE part = :part AND id = :id;

-- name: update_case_full :exec
-- only: pg — the case is about shards
UPDATE job SET tries = CASE WHEN job.state = 'late' THEN 5 ELSE job.tries END WHERE part = :part AND id = :id;

-- name: update_where_case_operand :exec
-- only: pg — the case is about shards
UPDATE job SET tries = 5 WHERE part = :part AND id = :id AND CASE state WHEN 'late' THEN tries ELSE 0 END > 3;

-- name: update_returning_case_operand :opt
-- only: pg — the case is about shards
UPDATE job SET tries = 5 WHERE part = :part AND id = :id RETURNING CASE state WHEN 'late' THEN 1 ELSE 0 END AS rank;

-- name: update_case_of_parameter :exec
-- only: pg — the case is about shards
UPDATE job SET tries = CASE CAST(:word AS text) WHEN 'late' THEN 5 ELSE tries END WHERE part = :part AND id = :id;

-- name: delete_case_operand :exec
-- only: pg — the case is about shards
DELETE FROM job WHERE part = :part AND id = :id AND CASE state WHEN 'late' THEN tries ELSE 0 END > 3;

-- name: upsert_case_operand :exec
-- only: pg — the case is about shards
INSERT INTO job AS held (part, id, lane, state) VALUES (:part, :id, :lane, 'new') ON CONFLICT (part, id) DO UPDATE SET state = CASE held.state WHEN 'new' THEN 'again' ELSE held.state END;

-- name: insert_case_operand :exec
-- only: pg — the case is about shards
INSERT INTO job (part, id, lane, state) VALUES (:part, :id, :lane, CASE CAST(:word AS text) WHEN 'a' THEN 'new' ELSE 'old' END);

-- name: read_case_operand :one
-- only: pg — the case is about shards
SELECT CASE state WHEN 'late' THEN 1 ELSE 0 END AS rank FROM job WHERE part = :part AND id = :id;

-- name: update_case_operand_beside_cte :exec
-- only: pg — the case is about shards
WITH held AS (SELECT part, id FROM job WHERE part = :part AND id = :id FOR UPDATE) UPDATE job SET tries = CASE job.state WHEN 'late' THEN 5 ELSE job.tries END FROM held WHERE job.part = :part AND job.id = held.id;

-- name: update_case_operand_in_cte :many
-- only: pg — the case is about shards
WITH done AS (UPDATE job SET tries = CASE job.state WHEN 'late' THEN 5 ELSE job.tries END WHERE part = :part AND id = :id RETURNING job.id) SELECT done.id FROM done;

-- name: update_exists_case_operand :exec
-- only: pg — the case is about shards
UPDATE job SET tries = 5 WHERE part = :part AND id = :id AND EXISTS (SELECT 1 FROM note WHERE note.part = :part AND CASE note.body WHEN 'late' THEN 1 ELSE 0 END = 1);

-- name: update_case_operand_cte_and_insert :many
-- only: pg — the case is about shards
WITH told AS (INSERT INTO note (part, job_id, n, body) VALUES (:part, :id, 1, 'x') RETURNING job_id), done AS (UPDATE job SET tries = CASE job.state WHEN 'late' THEN 5 ELSE job.tries END WHERE part = :part AND id = :id RETURNING job.id) SELECT done.id FROM done CROSS JOIN told;
