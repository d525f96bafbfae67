-- name: bill_draft :rows
INSERT INTO bill (id, account_id, period, cents, due_on)
SELECT :id, s.account_id, :period, (SELECT (max(litres) - min(litres)) / 1000 FROM reading WHERE meter_id = s.meter_id) * 150 + 990, :day
  FROM supply s WHERE s.meter_id = :meter AND s.ends_on IS NULL AND EXISTS (SELECT 1 FROM reading r WHERE r.meter_id = s.meter_id);

-- name: bill_lines :many
SELECT b.id, (SELECT json_group_object(line, cents) FROM bill_line WHERE bill_id = b.id) AS lines FROM bill b ORDER BY b.id;

-- name: bill_before :many
SELECT b.id FROM bill b WHERE NOT EXISTS (SELECT 1 FROM bill o WHERE o.account_id = b.account_id AND o.state <> 'void'
   AND o.period = strftime('%Y-%m', b.period || '-01', '-1 month')) ORDER BY b.id;

-- name: bill_send :rows
-- param: day date
UPDATE bill SET state = 'sent', due_on = date(:day, '+1 month') WHERE id = :id AND state = 'draft';

-- name: bill_remind :many
-- param: day date
SELECT id FROM bill WHERE state = 'sent' AND due_on < :day ORDER BY due_on, id;

-- name: bill_sums :many
SELECT b.account_id, sum(b.cents) AS cents FROM bill b WHERE EXISTS (SELECT 1 FROM bill_line l WHERE l.bill_id = b.id)
 GROUP BY b.account_id ORDER BY b.account_id;

-- name: bill_pay :rows
UPDATE bill SET state = 'paid', paid_at = coalesce(paid_at, :now) WHERE id = :id AND state IN ('sent', 'paid');

-- name: bill_texts :many
SELECT line, what || ': ' || cents / 100 || '.' || cents % 100 AS text FROM bill_line WHERE bill_id = :bill ORDER BY line;
