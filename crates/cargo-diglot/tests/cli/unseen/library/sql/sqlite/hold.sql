-- name: hold_next :opt
SELECT member_id, placed_at FROM hold WHERE book_id = :book ORDER BY pos, member_id LIMIT 1;

-- name: hold_renumber :rows
UPDATE hold
   SET pos = (SELECT count(*) FROM hold h
               WHERE h.book_id = hold.book_id
                 AND (h.placed_at, h.member_id) <= (hold.placed_at, hold.member_id))
 WHERE book_id = :book;

-- name: hold_place :exec
INSERT INTO hold (book_id, member_id, pos, placed_at) VALUES (:book, :member, :pos, :now)
ON CONFLICT (book_id, member_id) DO UPDATE SET pos = excluded.pos;

-- name: hold_copy :rows
-- param: to_book i64
INSERT OR IGNORE INTO hold (book_id, member_id, pos, placed_at)
SELECT :to_book, member_id, pos, placed_at FROM hold WHERE book_id = :from_book;

-- name: hold_try :rows
INSERT OR IGNORE INTO hold (book_id, member_id, pos, placed_at) VALUES (:book, :member, :pos, :now);
