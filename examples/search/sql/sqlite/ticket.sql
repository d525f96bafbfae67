-- Writes tickets; most of what an application says is fixed, and stands here.
-- name: ticket_add :exec
-- param: assignee uuid null
-- param: due_ms i64 null
-- param: satisfaction f64 null
INSERT INTO ticket (id, number, title, team, state, priority, escalated, assignee, opened_ms, due_ms, satisfaction, doc)
VALUES (:id, :number, :title, :team, :state, :priority, :escalated, :assignee, :opened_ms, :due_ms, :satisfaction, :doc);
