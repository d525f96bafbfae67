-- name: ticket_sell :opt
UPDATE ticket SET buyer = :buyer, sold_at = :now WHERE fixture_id = :fixture AND seat = :seat AND sold_at IS NULL RETURNING id, price_cents;

-- name: ticket_takings :many
SELECT fixture_id, sum(iif(sold_at IS NOT NULL, price_cents, 0)) AS cents FROM ticket GROUP BY fixture_id ORDER BY fixture_id;

-- name: ticket_cheapest :many
SELECT fixture_id, seat FROM (
  SELECT fixture_id, seat, row_number() OVER (PARTITION BY fixture_id ORDER BY price_cents, seat) AS place FROM ticket WHERE sold_at IS NULL
) WHERE place = 1 ORDER BY fixture_id;

-- name: ticket_return :rows
UPDATE ticket SET buyer = NULL, sold_at = NULL
 WHERE id = :id AND EXISTS (SELECT 1 FROM fixture f WHERE f.id = ticket.fixture_id AND f.kickoff_at > :now);
