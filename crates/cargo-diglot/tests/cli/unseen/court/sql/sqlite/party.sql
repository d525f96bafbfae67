-- name: party_cents :many
SELECT matter_id, sum(CAST(replace(fee, '.', '') AS INTEGER)) AS cents FROM party GROUP BY matter_id ORDER BY matter_id;

-- name: party_roles :many
SELECT matter_id, sum(role = 'plaintiff') AS plaintiffs, sum(role = 'defendant') AS defendants FROM party
 GROUP BY matter_id ORDER BY matter_id;

-- name: party_shared :many
SELECT name FROM party WHERE matter_id = :matter
INTERSECT
SELECT name FROM party WHERE matter_id = :other
ORDER BY name;

-- name: party_put :exec
INSERT INTO party (matter_id, name, role, fee) VALUES (:matter, :name, 'witness', :fee)
ON CONFLICT (matter_id, name) DO UPDATE SET fee = excluded.fee;

-- name: party_dearest :many
SELECT name, fee FROM party WHERE matter_id = :matter ORDER BY fee DESC, name;

-- name: party_rename :rows
UPDATE party SET name = :name WHERE matter_id = :matter AND name = :old;

-- name: party_written :many
SELECT name, upper(substr(name, 1, 1)) || substr(name, 2) AS written FROM party WHERE matter_id = :matter ORDER BY name;

-- name: party_people :many
SELECT name FROM party UNION SELECT name FROM judge ORDER BY name;
