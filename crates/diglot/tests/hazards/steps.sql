-- Steps that stop a running system or lose what stood on a table, each with the rule that tells it and its twin that no rule
-- tells. `-- next` begins another file.

-- case: widen_number table-rewrite
-- pg
SET LOCAL lock_timeout = '2s';
ALTER TABLE job ALTER COLUMN tries TYPE bigint;

-- twin
-- pg
SET LOCAL lock_timeout = '2s';
ALTER TABLE job ALTER COLUMN code TYPE varchar(40);
ALTER TABLE job ALTER COLUMN title TYPE text;

-- case: own_value_for_each_row table-rewrite
-- pg
SET LOCAL lock_timeout = '2s';
ALTER TABLE job ADD COLUMN token uuid NOT NULL DEFAULT gen_random_uuid();

-- twin
-- pg
SET LOCAL lock_timeout = '2s';
ALTER TABLE job ADD COLUMN made_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE job ADD COLUMN token uuid;
ALTER TABLE job ALTER COLUMN token SET DEFAULT gen_random_uuid();

-- case: present_at_once scan-under-lock
-- pg
SET LOCAL lock_timeout = '2s';
ALTER TABLE job ALTER COLUMN title SET NOT NULL;

-- twin
-- pg
SET LOCAL lock_timeout = '2s';
ALTER TABLE job ADD CONSTRAINT job_title_is_there CHECK (title IS NOT NULL) NOT VALID;
-- next
ALTER TABLE job VALIDATE CONSTRAINT job_title_is_there;
-- next
SET LOCAL lock_timeout = '2s';
ALTER TABLE job ALTER COLUMN title SET NOT NULL;
ALTER TABLE job DROP CONSTRAINT job_title_is_there;

-- case: reference_at_once scan-under-lock
-- pg
SET LOCAL lock_timeout = '2s';
ALTER TABLE job ADD CONSTRAINT job_owner FOREIGN KEY (owner_id) REFERENCES lane (id);

-- twin
-- pg
SET LOCAL lock_timeout = '2s';
ALTER TABLE job ADD CONSTRAINT job_owner FOREIGN KEY (owner_id) REFERENCES lane (id) NOT VALID;
-- next
ALTER TABLE job VALIDATE CONSTRAINT job_owner;

-- case: validated_under_its_own_lock scan-under-lock
-- pg
SET LOCAL lock_timeout = '2s';
ALTER TABLE job ADD CONSTRAINT job_tries_count CHECK (tries >= 0) NOT VALID;
ALTER TABLE job VALIDATE CONSTRAINT job_tries_count;

-- twin
-- pg
-- diglot: no-transaction
SET lock_timeout = '2s';
ALTER TABLE job ADD CONSTRAINT job_tries_count CHECK (tries >= 0) NOT VALID;
ALTER TABLE job VALIDATE CONSTRAINT job_tries_count;

-- case: index_beside_nobody blocking-index
-- pg
SET LOCAL lock_timeout = '2s';
CREATE INDEX job_state ON job (state);

-- twin
-- pg
-- diglot: no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS job_state ON job (state);
-- next
CREATE TABLE note (id bigint PRIMARY KEY, job_id bigint NOT NULL, body text);
CREATE INDEX note_job ON note (job_id);

-- case: key_beside_nobody blocking-index
-- pg
SET LOCAL lock_timeout = '2s';
ALTER TABLE job ADD CONSTRAINT job_code_once UNIQUE (code);

-- twin
-- pg
-- diglot: no-transaction
CREATE UNIQUE INDEX CONCURRENTLY job_code_once ON job (code);
-- next
SET LOCAL lock_timeout = '2s';
ALTER TABLE job ADD CONSTRAINT job_code_once UNIQUE USING INDEX job_code_once;

-- case: concurrently_in_a_step concurrently-in-transaction
-- pg
CREATE INDEX CONCURRENTLY job_state ON job (state);

-- twin
-- pg
-- no-transaction
CREATE INDEX CONCURRENTLY job_state ON job (state);

-- case: waits_for_ever lock-without-timeout
-- pg
ALTER TABLE job ADD COLUMN hue text;

-- twin
-- pg
SET lock_timeout TO '500ms';
ALTER TABLE job ADD COLUMN hue text;

-- case: filled_under_lock backfill-under-lock
-- pg
SET LOCAL lock_timeout = '2s';
ALTER TABLE job ADD COLUMN weight bigint;
UPDATE job SET weight = length(title) WHERE weight IS NULL;

-- twin
-- pg
SET LOCAL lock_timeout = '2s';
ALTER TABLE job ADD COLUMN weight bigint;
UPDATE lane SET name = 'default' WHERE id = 1;
-- next
UPDATE job SET weight = length(title) WHERE weight IS NULL;

-- case: rebuilt_without_its_trigger lost-with-rebuild
-- sqlite
CREATE TABLE job_new (id INTEGER PRIMARY KEY, lane_id INTEGER NOT NULL REFERENCES lane (id), owner_id INTEGER, code TEXT,
  title TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0, state TEXT NOT NULL) STRICT;
INSERT INTO job_new SELECT id, lane_id, owner_id, code, COALESCE(title, ''), tries, state FROM job;
DROP TABLE job;
ALTER TABLE job_new RENAME TO job;
CREATE INDEX job_lane ON job (lane_id, id);

-- twin
-- sqlite
CREATE TABLE job_new (id INTEGER PRIMARY KEY, lane_id INTEGER NOT NULL REFERENCES lane (id), owner_id INTEGER, code TEXT,
  title TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0, state TEXT NOT NULL) STRICT;
INSERT INTO job_new SELECT id, lane_id, owner_id, code, COALESCE(title, ''), tries, state FROM job;
DROP TABLE job;
ALTER TABLE job_new RENAME TO job;
CREATE INDEX job_lane ON job (lane_id, id);
CREATE TRIGGER job_told AFTER INSERT ON job BEGIN INSERT INTO event (job_id) VALUES (new.id); END;

-- case: rebuilt_under_its_children dropped-parent
-- sqlite
CREATE TABLE lane_new (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO lane_new SELECT id, name FROM lane;
DROP TABLE lane;
ALTER TABLE lane_new RENAME TO lane;

-- twin
-- sqlite
-- no-transaction
PRAGMA foreign_keys = OFF;
BEGIN;
CREATE TABLE lane_new (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO lane_new SELECT id, name FROM lane;
DROP TABLE lane;
ALTER TABLE lane_new RENAME TO lane;
PRAGMA foreign_key_check;
COMMIT;
PRAGMA foreign_keys = ON;

-- case: renamed_first moved-references
-- sqlite
-- no-transaction
PRAGMA foreign_keys = OFF;
BEGIN;
ALTER TABLE lane RENAME TO lane_old;
CREATE TABLE lane (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO lane SELECT id, name FROM lane_old;
DROP TABLE lane_old;
COMMIT;
PRAGMA foreign_keys = ON;

-- twin
-- sqlite
-- no-transaction
PRAGMA foreign_keys = OFF;
BEGIN;
CREATE TABLE lane_new (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO lane_new SELECT id, name FROM lane;
DROP TABLE lane;
ALTER TABLE lane_new RENAME TO lane;
COMMIT;
PRAGMA foreign_keys = ON;

-- case: renamed_under_a_trigger moved-references
-- sqlite
ALTER TABLE event RENAME TO event_old;
CREATE TABLE event (event_id INTEGER PRIMARY KEY AUTOINCREMENT, job_id INTEGER NOT NULL, kind TEXT) STRICT;
INSERT INTO event (event_id, job_id) SELECT event_id, job_id FROM event_old;
DROP TABLE event_old;

-- twin
-- sqlite
CREATE TABLE event_new (event_id INTEGER PRIMARY KEY AUTOINCREMENT, job_id INTEGER NOT NULL, kind TEXT) STRICT;
INSERT INTO event_new (event_id, job_id) SELECT event_id, job_id FROM event;
DROP TRIGGER job_told;
DROP TABLE event;
ALTER TABLE event_new RENAME TO event;
CREATE TRIGGER job_told AFTER INSERT ON job BEGIN INSERT INTO event (job_id) VALUES (new.id); END;
