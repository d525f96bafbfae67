-- rows: given(id uuid key, part i16, active bool, doc json, note text null, score f64 null, payload bytes null, size i32 null)
-- name: job_add_all :exec
INSERT INTO job (id, part, lane, active, doc, note, score, payload, size, epoch)
SELECT given.id, given.part, :lane, given.active, given.doc, given.note, given.score, given.payload, given.size, 0
  FROM given;

-- rows: given(id uuid key, note text null, epoch i64)
-- name: job_note_all :opt
UPDATE job SET note = given.note, epoch = job.epoch + 1
  FROM given
 WHERE job.id = given.id AND job.epoch = given.epoch
RETURNING job.id, job.epoch, job.note;

-- rows: given(id uuid)
-- name: job_read_all :many
SELECT given.ordinality, job.part, job.lane, job.active, job.doc, job.score, job.payload
  FROM given JOIN job ON job.id = given.id
 WHERE job.epoch >= :from;

-- rows: given(id uuid key)
-- name: job_delete_all :rows
DELETE FROM job WHERE job.id IN (SELECT given.id FROM given);

-- rows: given(part i16 key, word text key, n i64)
-- name: hold_add_all :one
INSERT INTO hold (part, word, n)
SELECT given.part, given.word, given.n FROM given WHERE true
ON CONFLICT (part, word) DO UPDATE SET n = hold.n + excluded.n
RETURNING part, word, n;

-- rows: given(part i16 key, word text key, n i64)
-- name: hold_take_all :opt
WITH fence AS (
  SELECT hold.part, hold.word, given.n
    FROM hold JOIN given ON hold.part = given.part AND hold.word = given.word AND hold.n >= given.n
   ORDER BY hold.part, hold.word
     FOR UPDATE OF hold
)
UPDATE hold SET n = hold.n - fence.n FROM fence
 WHERE hold.part = fence.part AND hold.word = fence.word
RETURNING hold.part, hold.word, hold.n;

-- The same for one row, by which the lists are measured.
-- name: job_add :exec
-- param: score f64 null
-- param: size i32 null
INSERT INTO job (id, part, lane, active, doc, note, score, payload, size, epoch)
VALUES (:id, :part, :lane, :active, :doc, NULL, :score, NULL, :size, 0);

-- name: job_note :opt
-- param: note text null
UPDATE job SET note = :note, epoch = epoch + 1
 WHERE id = :id AND epoch = :epoch
RETURNING id, epoch, note;

-- name: job_read :many
SELECT part, lane, active, doc, score, payload
  FROM job
 WHERE id = :id AND epoch >= :from;

-- name: hold_add :one
INSERT INTO hold (part, word, n)
VALUES (:part, :word, :n)
ON CONFLICT (part, word) DO UPDATE SET n = hold.n + excluded.n
RETURNING part, word, n;

-- name: job_delete :rows
DELETE FROM job WHERE id = :id;
