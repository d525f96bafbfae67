-- name: ticket_masked :many
SELECT id, left(email, 2) || '***' AS masked FROM ticket WHERE sailing_id = :sailing ORDER BY id;

-- name: ticket_price :rows
UPDATE ticket SET paid_cents = f.cents
  FROM sailing s JOIN fare f ON f.route_code = s.route_code
 WHERE s.id = ticket.sailing_id AND f.klass = ticket.klass AND ticket.paid_cents IS NULL;

-- name: ticket_at :many
SELECT id FROM ticket WHERE right(email, length(:host) + 1) = '@' || :host ORDER BY id;

-- name: ticket_notes :one
SELECT COALESCE(string_agg(COALESCE(note, ''), ', ' ORDER BY id), '') AS notes FROM ticket WHERE sailing_id = :sailing;

-- name: ticket_refund :rows
UPDATE ticket SET refunded = true WHERE paid_cents > 0 AND sailing_id IN (SELECT id FROM sailing WHERE cancelled_at IS NOT NULL);
