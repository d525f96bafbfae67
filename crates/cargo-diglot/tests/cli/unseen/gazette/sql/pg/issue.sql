-- name: issue_browse :many
-- param: day date
SELECT number, day, pages FROM issue
 WHERE paper_id = :paper AND (day < :day OR day = :day AND number < :number) ORDER BY day DESC, number DESC FETCH FIRST 3 ROWS ONLY;

-- name: issue_months :many
SELECT n.k AS month FROM generate_series(1, 12) AS n (k)
 WHERE NOT EXISTS (SELECT 1 FROM issue i WHERE i.paper_id = :paper AND extract(month FROM i.day) = n.k) ORDER BY 1;

-- name: issue_old_money :many
SELECT number, concat(pence / 240, '/', mod(pence, 240) / 12, '/', mod(pence, 12)) AS price FROM issue WHERE paper_id = :paper AND pence >= 0
 ORDER BY number;

-- name: issue_put :opt
INSERT INTO issue AS i (paper_id, number, day, pages) VALUES (:paper, :number, :day, :pages)
ON CONFLICT (paper_id, number) DO UPDATE SET pages = CASE WHEN EXCLUDED.pages > i.pages THEN EXCLUDED.pages ELSE i.pages END
RETURNING number, sheets;

-- name: issue_weekday :many
SELECT number, to_char(day, 'FMDay') AS weekday FROM issue WHERE paper_id = :paper ORDER BY number;

-- name: issue_previous :many
SELECT i.paper_id, i.number, (SELECT max(o.number) FROM issue o WHERE o.paper_id = i.paper_id AND o.number < i.number) AS before
  FROM issue i ORDER BY i.paper_id, i.number;

-- name: issue_complete :many
SELECT paper_id, number FROM article WHERE deleted_at IS NULL GROUP BY paper_id, number
HAVING bool_or(section = 'news') AND bool_or(section = 'sport') AND bool_or(section = 'culture') AND bool_or(section = 'letters')
 ORDER BY paper_id, number;

-- name: issue_renumber :rows
-- param: to i32
UPDATE issue i SET number = :to WHERE (i.paper_id, i.number) = (:paper, :from);

-- name: issue_archive :many
-- param: from date
-- param: to date
SELECT paper_id, number FROM issue WHERE day >= :from AND day < :to AND NOT withdrawn ORDER BY paper_id, number;

-- name: issue_shillings :many
SELECT number, round(pence / 12.0)::bigint AS shillings FROM issue WHERE paper_id = :paper AND pence IS NOT NULL ORDER BY number;

-- name: issue_running :many
SELECT number, (sum(pages) OVER (ORDER BY day, number))::bigint AS pages FROM issue WHERE paper_id = :paper ORDER BY number;

-- name: issue_century :many
SELECT (extract(year FROM day)::bigint / 100 + 1) AS century, count(*) AS n FROM issue GROUP BY 1 ORDER BY 1;
