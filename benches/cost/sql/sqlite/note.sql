-- Writes a note down.
-- name: note_add :exec
INSERT INTO note (id, title, body, created_at_ms)
VALUES (:id, :title, :body, :created_at_ms);

-- The newest notes, pinned ones first.
-- name: note_recent :many
SELECT id, title, body, pinned, created_at_ms
  FROM note
 ORDER BY pinned DESC, created_at_ms DESC, id
 LIMIT :most;

-- Pins a note; says whether it was there.
-- name: note_pin :rows
UPDATE note
   SET pinned = true
 WHERE id = :id;
