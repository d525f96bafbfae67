-- name: bill_draft :rows
INSERT INTO bill (id, account_id, period, cents, due_on)
SELECT :id, s.account_id, :period, 990 + 150 * ((u.most - u.least) / 1000), :day FROM supply s
  JOIN (SELECT meter_id, min(litres) AS least, max(litres) AS most FROM reading GROUP BY meter_id) u ON u.meter_id = s.meter_id
 WHERE s.meter_id = :meter AND s.ends_on IS NULL;

-- name: bill_lines :many
SELECT b.id, COALESCE((SELECT jsonb_object_agg(l.line, l.cents) FROM bill_line l WHERE l.bill_id = b.id), '{}') AS lines FROM bill b ORDER BY b.id;

-- name: bill_before :many
SELECT b.id FROM bill b LEFT JOIN bill o ON o.account_id = b.account_id AND o.state <> 'void'
   AND o.period = to_char((b.period || '-01')::date - interval '1 month', 'YYYY-MM') WHERE o.id IS NULL ORDER BY b.id;

-- name: bill_send :rows
-- param: day date
UPDATE bill SET state = 'sent', due_on = (:day::date + interval '1 month')::date WHERE id = :id AND state = 'draft';

-- name: bill_remind :many
-- param: day date
SELECT id FROM bill WHERE state <> 'paid' AND due_on < :day ORDER BY due_on, id;

-- name: bill_sums :many
SELECT b.account_id, sum(b.cents) AS cents FROM bill b JOIN bill_line l ON l.bill_id = b.id GROUP BY b.account_id ORDER BY b.account_id;

-- name: bill_pay :rows
UPDATE bill SET state = 'paid', paid_at = :now WHERE id = :id AND state IN ('sent', 'paid');

-- name: bill_texts :many
SELECT line, what || ': ' || cents / 100 || '.' || lpad((cents % 100)::text, 2, '0') AS text FROM bill_line WHERE bill_id = :bill ORDER BY line;
