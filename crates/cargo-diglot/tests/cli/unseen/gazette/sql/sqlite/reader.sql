-- name: reader_register :opt
INSERT INTO reader (id, name, email, since) VALUES (:id, :name, :email, :day)
ON CONFLICT (email) WHERE gone = 0 DO UPDATE SET name = excluded.name RETURNING id, since;

-- name: reader_initial :many
SELECT id, upper(substr(name, 1, 1)) || '.' AS initial FROM reader WHERE gone = 0 ORDER BY id;

-- name: reader_invite :rows
INSERT INTO reader (id, name, email, since) VALUES (:id, :name, :email, :day) ON CONFLICT DO NOTHING;

-- name: reader_jubilee :many
SELECT id, date(since, '+1 year') AS day FROM reader WHERE gone = 0 ORDER BY id;
