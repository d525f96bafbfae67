-- name: member_upsert :one
INSERT INTO member (id, name, email, joined_on, active, settings)
VALUES (:id, :name, :email, :joined_on, 1, '{}')
ON CONFLICT (email) DO UPDATE SET name = excluded.name, active = 1
RETURNING id, name;

-- name: member_by_emails :many
SELECT id, email FROM member WHERE email IN (SELECT value FROM json_each(:emails)) ORDER BY email;

-- name: member_mailed :many
SELECT id, name FROM member WHERE settings ->> '$.mail' = 1 ORDER BY id;

-- name: member_remove :rows
DELETE FROM hold WHERE member_id = :id;
DELETE FROM member WHERE id = :id;

-- name: member_erase :rows
DELETE FROM hold WHERE member_id = :id;
DELETE FROM member WHERE id = :id;

-- name: member_count :one
SELECT count(*) AS n FROM member WHERE joined_on >= :since AND active = 1;

-- name: member_mail_flag :many
SELECT id FROM member WHERE settings ->> '$.mail' = 'true' ORDER BY id;

-- name: member_standing :many
SELECT m.id, max(ifnull(f.paid = 0 AND f.cents > 0, 0)) AS owes
  FROM member m LEFT JOIN fine f ON f.member_id = m.id
 GROUP BY m.id ORDER BY m.id;
