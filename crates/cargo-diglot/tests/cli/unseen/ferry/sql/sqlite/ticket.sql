-- name: ticket_masked :many
SELECT id, substr(email, 1, 2) || '***' AS masked FROM ticket WHERE sailing_id = :sailing ORDER BY id;

-- name: ticket_price :rows
UPDATE ticket
   SET paid_cents = (SELECT f.cents FROM sailing s JOIN fare f ON f.route_code = s.route_code
                      WHERE s.id = ticket.sailing_id AND f.klass = ticket.klass)
 WHERE paid_cents IS NULL
   AND EXISTS (SELECT 1 FROM sailing s JOIN fare f ON f.route_code = s.route_code
                WHERE s.id = ticket.sailing_id AND f.klass = ticket.klass);

-- name: ticket_at :many
SELECT id FROM ticket WHERE email LIKE '%@' || :host ORDER BY id;

-- name: ticket_notes :one
SELECT coalesce(group_concat(note, ', '), '') AS notes FROM (SELECT note FROM ticket WHERE sailing_id = :sailing ORDER BY id);

-- name: ticket_refund :rows
UPDATE ticket SET refunded = 1 WHERE sailing_id IN (SELECT id FROM sailing WHERE cancelled_at IS NOT NULL);
