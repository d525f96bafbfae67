-- name: waiting_front :opt
SELECT patient_id FROM waiting WHERE doctor_id = :doctor ORDER BY urgency DESC, since_on, patient_id LIMIT 1;

-- name: waiting_raise :rows
UPDATE waiting SET urgency = min(urgency + 1, 3) WHERE doctor_id = :doctor AND since_on < :day;
