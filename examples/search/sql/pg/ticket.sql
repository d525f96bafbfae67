-- Writes tickets; most of what an application says is fixed, and stands here.
-- name: ticket_add :exec
-- param: assignee uuid null
-- param: due_ms i64 null
-- param: satisfaction f64 null
INSERT INTO ticket (id, number, title, team, state, priority, escalated, assignee, opened_ms, due_ms, satisfaction, doc)
VALUES (:id, :number, :title, :team, :state, :priority, :escalated, :assignee, :opened_ms, :due_ms, :satisfaction, :doc);

-- Tickets of a team that are not solved, in an order that the reader chooses of some.
-- name: ticket_list :many
SELECT number, title, priority, due_ms
  FROM ticket
 WHERE team = :team
   AND state <> 'solved'
-- order: newest
 ORDER BY opened_ms DESC, id
-- order: urgent
 ORDER BY priority DESC, due_ms NULLS LAST, id
-- end
 LIMIT :most;

-- The same page by page: each begins behind the last ticket of the one before.
-- page: after
-- name: ticket_page :many
SELECT id, number, title, priority, opened_ms, due_ms
  FROM ticket
 WHERE team = :team
-- if: least
   AND priority >= :least
-- end
-- order: newest
 ORDER BY opened_ms DESC, id DESC
-- order: urgent
 ORDER BY priority DESC, due_ms NULLS LAST, id
-- end
 LIMIT :most;
