-- name: reader_register :opt
INSERT INTO reader (id, name, email, since) VALUES (:id, :name, :email, :day)
ON CONFLICT (email) WHERE NOT gone DO UPDATE SET name = EXCLUDED.name RETURNING id, since;

-- name: reader_initial :many
SELECT id, concat(upper(left(name, 1)), '.') AS initial FROM reader WHERE gone IS FALSE ORDER BY id;

-- name: reader_invite :rows
INSERT INTO reader (id, name, email, since) VALUES (:id, :name, :email, :day) ON CONFLICT (id) DO NOTHING;

-- name: reader_jubilee :many
SELECT id, (since + interval '1 year')::date AS day FROM reader WHERE NOT gone ORDER BY id;
