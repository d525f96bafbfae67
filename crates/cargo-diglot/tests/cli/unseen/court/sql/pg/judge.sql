-- name: judge_active :many
-- param: day date
SELECT id, COALESCE(NULLIF(btrim(chamber), ''), '-') AS chamber FROM judge
 WHERE court_id = :court AND (retired_on > :day) IS NOT FALSE ORDER BY seniority DESC, id;

-- name: judge_pick :opt
SELECT j.id FROM judge j LEFT JOIN hearing h ON h.judge_id = j.id AND h.state = 'planned'
 WHERE j.court_id = :court GROUP BY j.id, j.seniority ORDER BY count(h.id), j.seniority, j.id LIMIT 1;
