-- name: member_upsert :one
INSERT INTO member (id, name, email, joined_on, active, settings)
VALUES (:id, :name, :email, :joined_on, true, '{}'::jsonb)
ON CONFLICT (email) DO UPDATE SET name = EXCLUDED.name, active = true
RETURNING id, name;

-- name: member_by_emails :many
SELECT id, email FROM member WHERE email = ANY(:emails) ORDER BY email;

-- name: member_mailed :many
SELECT id, name FROM member WHERE (settings ->> 'mail')::boolean ORDER BY id;

-- name: member_remove :rows
WITH gone AS (DELETE FROM hold WHERE member_id = :id)
DELETE FROM member WHERE id = :id;

-- name: member_erase :rows
DELETE FROM member WHERE id = :id;

-- name: member_count :one
SELECT count(*) AS n FROM member WHERE joined_on >= :since;

-- name: member_mail_flag :many
SELECT id FROM member WHERE settings ->> 'mail' = 'true' ORDER BY id;

-- name: member_standing :many
SELECT m.id, COALESCE((SELECT bool_or(NOT f.paid AND f.cents > 0) FROM fine f WHERE f.member_id = m.id), false) AS owes
  FROM member m ORDER BY m.id;
