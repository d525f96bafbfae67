-- diglot: no-transaction
-- What is delayed on a lane, in the order in which its time comes: a lane that has much of it keeps no other waiting.
CREATE INDEX IF NOT EXISTS ff_delayed_lane_idx ON ff_delayed (lane_id, due_at_ms);
