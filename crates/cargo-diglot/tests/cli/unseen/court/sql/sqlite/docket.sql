-- name: docket_next :one
INSERT INTO docket (court_id, year, last) VALUES (:court, :year, 1)
ON CONFLICT (court_id, year) DO UPDATE SET last = docket.last + 1
RETURNING last;
