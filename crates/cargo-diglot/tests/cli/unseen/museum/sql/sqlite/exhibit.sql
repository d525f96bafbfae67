-- name: exhibit_swap :rows
UPDATE exhibit SET place = (SELECT o.place FROM exhibit o WHERE o.show_id = :show
  AND o.piece_id = CASE exhibit.piece_id WHEN :a THEN :b ELSE :a END) WHERE show_id = :show AND piece_id IN (:a, :b) AND (SELECT count(*)
  FROM exhibit c WHERE c.show_id = :show AND c.piece_id IN (:a, :b)) = 2;

-- name: exhibit_put :rows
-- param: note text null
INSERT INTO exhibit (show_id, piece_id, place, note) VALUES (:show, :piece, :place, :note)
  ON CONFLICT (show_id, piece_id) DO UPDATE SET place = excluded.place, note = ifnull(excluded.note, note);

-- name: exhibit_clear :rows
DELETE FROM exhibit WHERE show_id = :show AND note IS NULL;

-- name: exhibit_add :rows
INSERT INTO exhibit (show_id, piece_id, place) SELECT :show, :piece, max(place) + 1 FROM exhibit WHERE show_id = :show;
