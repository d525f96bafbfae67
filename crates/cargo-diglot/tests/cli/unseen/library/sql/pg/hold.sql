-- name: hold_next :opt
SELECT member_id, placed_at FROM hold WHERE book_id = :book ORDER BY pos, member_id FETCH FIRST 1 ROW ONLY;

-- name: hold_renumber :rows
UPDATE hold
   SET pos = ranked.rn
  FROM (SELECT book_id, member_id, row_number() OVER (PARTITION BY book_id ORDER BY placed_at, member_id) AS rn FROM hold) AS ranked
 WHERE hold.book_id = ranked.book_id AND hold.member_id = ranked.member_id AND hold.book_id = :book;

-- name: hold_place :exec
INSERT INTO hold (book_id, member_id, pos, placed_at) VALUES (:book, :member, :pos, :now)
ON CONFLICT (book_id, member_id) DO NOTHING;

-- name: hold_copy :rows
-- param: to_book i64
INSERT INTO hold (book_id, member_id, pos, placed_at)
SELECT :to_book, member_id, pos, placed_at FROM hold WHERE book_id = :from_book
ON CONFLICT (book_id, member_id) DO NOTHING;

-- name: hold_try :rows
INSERT INTO hold (book_id, member_id, pos, placed_at) VALUES (:book, :member, :pos, :now)
ON CONFLICT (book_id, member_id) DO NOTHING;
