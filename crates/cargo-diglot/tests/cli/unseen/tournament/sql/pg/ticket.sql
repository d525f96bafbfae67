-- name: ticket_sell :opt
UPDATE ticket SET buyer = :buyer, sold_at = :now WHERE fixture_id = :fixture AND seat = :seat AND sold_at IS NULL RETURNING id, price_cents;

-- name: ticket_takings :many
SELECT fixture_id, sum(price_cents)::bigint AS cents FROM ticket GROUP BY fixture_id ORDER BY fixture_id;

-- name: ticket_cheapest :many
SELECT DISTINCT ON (fixture_id) fixture_id, seat FROM ticket WHERE sold_at IS NULL ORDER BY fixture_id, seat;

-- name: ticket_return :rows
UPDATE ticket SET buyer = NULL, sold_at = NULL FROM fixture f
 WHERE ticket.id = :id AND f.id = ticket.fixture_id AND (f.kickoff_at > :now OR f.kickoff_at <= :now);
