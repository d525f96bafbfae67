-- name: waiting_front :opt
SELECT patient_id FROM waiting WHERE doctor_id = :doctor ORDER BY urgency DESC, since_on ASC, patient_id FETCH FIRST 1 ROW ONLY;

-- name: waiting_raise :rows
UPDATE waiting SET urgency = urgency + 1 WHERE doctor_id = :doctor AND since_on < :day;
