-- name: party_cents :many
SELECT matter_id, (sum(fee) * 100)::bigint AS cents FROM party GROUP BY matter_id ORDER BY matter_id;

-- name: party_roles :many
SELECT matter_id, count(*) FILTER (WHERE role = 'plaintiff') AS plaintiffs, count(*) FILTER (WHERE role = 'defendant') AS defendants
  FROM party GROUP BY matter_id ORDER BY matter_id;

-- name: party_shared :many
SELECT a.name FROM party a JOIN party b ON b.name = a.name WHERE a.matter_id = :matter AND b.matter_id = :other ORDER BY a.name;

-- name: party_put :exec
INSERT INTO party (matter_id, name, role, fee) VALUES (:matter, :name, 'witness', :fee)
ON CONFLICT (matter_id, name) DO UPDATE SET fee = EXCLUDED.fee;

-- name: party_dearest :many
SELECT name, fee FROM party WHERE matter_id = :matter ORDER BY fee DESC, name;

-- name: party_rename :rows
UPDATE party SET name = :name WHERE matter_id = :matter AND lower(name) = lower(:old);

-- name: party_written :many
SELECT name, initcap(name) AS written FROM party WHERE matter_id = :matter ORDER BY name;

-- name: party_people :many
SELECT name FROM party UNION ALL SELECT name FROM judge ORDER BY name;
