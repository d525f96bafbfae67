-- name: exhibit_swap :rows
UPDATE exhibit e SET place = o.place FROM exhibit o WHERE e.show_id = :show AND o.show_id = e.show_id AND e.piece_id IN (:a, :b)
  AND o.piece_id IN (:a, :b) AND e.piece_id <> o.piece_id;

-- name: exhibit_put :rows
-- param: note text null
INSERT INTO exhibit AS e (show_id, piece_id, place, note) VALUES (:show, :piece, :place, :note)
  ON CONFLICT (show_id, piece_id) DO UPDATE SET (place, note) = (EXCLUDED.place, COALESCE(EXCLUDED.note, e.note));

-- name: exhibit_clear :rows
DELETE FROM exhibit WHERE show_id = :show AND note = '';

-- name: exhibit_add :rows
INSERT INTO exhibit (show_id, piece_id, place) SELECT :show, :piece, COALESCE(max(place), 0) + 1 FROM exhibit WHERE show_id = :show;
