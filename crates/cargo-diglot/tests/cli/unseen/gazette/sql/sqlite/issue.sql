-- name: issue_browse :many
-- param: day date
SELECT number, day, pages FROM issue WHERE paper_id = :paper AND (day, number) < (:day, :number) ORDER BY day DESC, number DESC LIMIT 3;

-- name: issue_months :many
WITH RECURSIVE n (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 12)
SELECT k AS month FROM n WHERE k NOT IN (SELECT CAST(strftime('%m', day) AS INTEGER) FROM issue WHERE paper_id = :paper) ORDER BY k;

-- name: issue_old_money :many
SELECT number, printf('%d/%d/%d', pence / 240, pence % 240 / 12, pence % 12) AS price FROM issue WHERE paper_id = :paper AND pence IS NOT NULL
 ORDER BY number;

-- name: issue_put :opt
INSERT INTO issue (paper_id, number, day, pages) VALUES (:paper, :number, :day, :pages)
ON CONFLICT (paper_id, number) DO UPDATE SET pages = max(pages, excluded.pages) RETURNING number, sheets;

-- name: issue_weekday :many
SELECT number, CASE strftime('%w', day) WHEN '0' THEN 'Sunday' WHEN '1' THEN 'Monday' WHEN '2' THEN 'Tuesday' WHEN '3' THEN 'Wednesday'
       WHEN '4' THEN 'Thursday' WHEN '5' THEN 'Friday' ELSE 'Saturday' END AS weekday
  FROM issue WHERE paper_id = :paper ORDER BY number;

-- name: issue_previous :many
SELECT paper_id, number, lag(number) OVER (PARTITION BY paper_id ORDER BY number) AS before FROM issue ORDER BY paper_id, number;

-- name: issue_complete :many
SELECT paper_id, number FROM article WHERE deleted_at IS NULL GROUP BY paper_id, number HAVING count(DISTINCT section) = 4
 ORDER BY paper_id, number;

-- name: issue_renumber :rows
-- param: to i32
UPDATE issue SET number = :to WHERE paper_id = :paper AND number = :from;

-- name: issue_archive :many
-- param: from date
-- param: to date
SELECT paper_id, number FROM issue WHERE day BETWEEN :from AND :to AND withdrawn = 0 ORDER BY paper_id, number;

-- name: issue_shillings :many
SELECT number, pence / 12 AS shillings FROM issue WHERE paper_id = :paper AND pence IS NOT NULL ORDER BY number;

-- name: issue_running :many
SELECT number, sum(pages) OVER (ORDER BY day) AS pages FROM issue WHERE paper_id = :paper ORDER BY number;

-- name: issue_century :many
SELECT (CAST(strftime('%Y', day) AS INTEGER) + 99) / 100 AS century, count(*) AS n FROM issue GROUP BY century ORDER BY century;
