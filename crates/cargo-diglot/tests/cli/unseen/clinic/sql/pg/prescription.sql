-- name: prescription_total :many
SELECT id, drug, days + days * repeats AS days FROM prescription WHERE visit_id = :visit ORDER BY id;

-- name: prescription_copy :rows
INSERT INTO prescription (id, visit_id, drug, dose, days, repeats)
SELECT p.id + 1000, :to_visit, p.drug, p.dose, p.days, p.repeats FROM prescription p WHERE p.visit_id = :from_visit;

-- name: prescription_rounded :many
SELECT id, round(dose) AS dose FROM prescription ORDER BY id;

-- name: prescription_drugs :many
SELECT lower(drug) AS drug, count(*) AS n FROM prescription GROUP BY 1 ORDER BY 1;
