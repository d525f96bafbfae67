-- Takes a parcel in; says whether it is a new one.
-- name: parcel_add :rows
INSERT INTO parcel (id, town, grams)
VALUES (:id, :town, :grams)
    ON CONFLICT (id) DO NOTHING;

-- The heaviest parcels that wait for a town. Nobody else gets them before the transaction ends.
-- name: parcel_next :many
SELECT id, grams
  FROM parcel
 WHERE town = :town
   AND sent_ms IS NULL
 ORDER BY grams DESC, id
 LIMIT :most
   FOR UPDATE SKIP LOCKED;

-- The parcel of a town that has one alone.
-- name: parcel_only :opt
SELECT id, grams FROM parcel WHERE town = :town ORDER BY id;

-- Sends parcels away; says how many.
-- name: parcel_send :rows
-- only: sqlite — a list arrives as JSON
UPDATE parcel
   SET sent_ms = :now_ms
 WHERE id IN (SELECT value FROM json_each(:ids))
   AND sent_ms IS NULL;

-- name: parcel_send :rows
-- only: pg — a list arrives as an array
UPDATE parcel
   SET sent_ms = :now_ms
 WHERE id = ANY(:ids)
   AND sent_ms IS NULL;

-- How much waits for each town.
-- name: parcel_load :many
SELECT town, count(*) AS parcels, CAST(sum(grams) AS bigint) AS grams
  FROM parcel
 WHERE sent_ms IS NULL
 GROUP BY town
 ORDER BY town;
