-- case: added_column: yes | no, because of job_urgent (SQLite, Postgres)
-- part: both
ALTER TABLE job ADD COLUMN urgent INTEGER NOT NULL DEFAULT 0;
-- part: statements

-- Urgent ones.
-- name: job_urgent :many
SELECT id FROM job WHERE urgent = 1 ORDER BY id;
-- case: added_required_column: no, because of job_add (Postgres) | no, because of job_add (Postgres)
-- part: sqlite
ALTER TABLE job ADD COLUMN owner TEXT NOT NULL DEFAULT '';
-- part: pg
ALTER TABLE job ADD COLUMN owner text NOT NULL DEFAULT '';
ALTER TABLE job ALTER COLUMN owner DROP DEFAULT;
-- case: renamed_column: no, because of job_list (SQLite, Postgres), job_retry (SQLite, Postgres) | yes
-- part: both
ALTER TABLE job RENAME COLUMN tries TO attempts;
-- case: other_word: no, because of job_count (SQLite, Postgres) | no, because of job_count (SQLite, Postgres)
-- part: both
UPDATE job SET state = 'waiting' WHERE state = 'new';
-- case: unique_titles: no, because of job_add (SQLite, Postgres), job_list (SQLite, Postgres) | no, because of job_add (SQLite, Postgres), job_list (SQLite, Postgres)
-- part: both
UPDATE job SET title = NULL WHERE EXISTS (SELECT 1 FROM job AS other WHERE other.title = job.title AND other.id < job.id);
CREATE UNIQUE INDEX job_title ON job (title);
-- case: trigger_that_counts: no, because of job_retry (SQLite, Postgres) | no, because of job_retry (SQLite, Postgres)
-- part: sqlite
CREATE TRIGGER job_counts AFTER UPDATE OF tries ON job FOR EACH ROW WHEN NEW.tries > OLD.tries BEGIN
  UPDATE job SET state = 'retried' WHERE id = NEW.id;
END;
-- part: pg
CREATE FUNCTION job_counts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN NEW.state := 'retried'; RETURN NEW; END $$;
CREATE TRIGGER job_counts BEFORE UPDATE OF tries ON job FOR EACH ROW EXECUTE FUNCTION job_counts();
-- case: other_table: yes | yes
-- part: sqlite
CREATE TABLE worker (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
-- part: pg
CREATE TABLE worker (id bigint PRIMARY KEY, name text NOT NULL);
-- case: index_beside_writers: yes | yes
-- part: sqlite
CREATE INDEX job_lane ON job (lane_id);
-- part: pg
-- diglot: no-transaction
CREATE INDEX CONCURRENTLY job_lane ON job (lane_id);
-- case: narrowed_column: no, because of job_list (Postgres) | no, because of job_list (Postgres)
-- part: pg
ALTER TABLE job ALTER COLUMN tries TYPE int USING least(tries, 1000)::int;
-- case: rebuilt_table: yes | yes
-- part: sqlite
-- diglot: no-transaction
PRAGMA foreign_keys = OFF;
CREATE TABLE job_new (id INTEGER PRIMARY KEY, lane_id INTEGER NOT NULL REFERENCES lane (id), title TEXT,
  tries INTEGER NOT NULL DEFAULT 0, state TEXT NOT NULL, note TEXT) STRICT;
INSERT INTO job_new (id, lane_id, title, tries, state) SELECT id, lane_id, title, tries, state FROM job;
DROP TABLE job;
ALTER TABLE job_new RENAME TO job;
PRAGMA foreign_keys = ON;
-- part: pg
ALTER TABLE job ADD COLUMN note text;
-- case: dropped_table: no, because of job_add (SQLite, Postgres), job_count (SQLite, Postgres), job_list (SQLite, Postgres), job_retry (SQLite, Postgres) | yes
-- part: both
DROP TABLE job;
-- case: view_in_its_place: yes | yes
-- part: both
ALTER TABLE lane RENAME TO queue;
CREATE VIEW lane AS SELECT id, name FROM queue;
