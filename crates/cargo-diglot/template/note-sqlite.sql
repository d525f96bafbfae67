-- What is due of these kinds, the oldest first.
-- name: note_due :many
SELECT id, body FROM note
 WHERE due_ms <= :now_ms AND kind IN (SELECT value FROM json_each(:kinds))
 ORDER BY due_ms, id;

-- Writes a note down.
-- name: note_add :exec
INSERT INTO note (id, kind, body, due_ms)
VALUES (:id, :kind, :body, :due_ms);

-- Deletes a note; says whether it was there.
-- name: note_delete :rows
DELETE FROM note
 WHERE id = :id;
