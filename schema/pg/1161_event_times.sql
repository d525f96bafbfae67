-- diglot: no-transaction
-- What happened before a time is found by that time.
--
-- In the order of their ids the events of a host whose clock is ahead stand before others that are older, so whoever forgets
-- old ones cannot stop at the first that is not. The index takes the place of one by the partition, which nobody asks for
-- alone.
CREATE INDEX IF NOT EXISTS ff_lease_event_at_idx ON ff_lease_event (occurred_at_ms);
CREATE INDEX IF NOT EXISTS ff_signal_event_at_idx ON ff_signal_event (delivered_at_ms);
CREATE INDEX IF NOT EXISTS ff_operator_event_at_idx ON ff_operator_event (occurred_at_ms);

DROP INDEX IF EXISTS ff_lease_event_partition_key_idx;
DROP INDEX IF EXISTS ff_signal_event_partition_key_idx;
DROP INDEX IF EXISTS ff_operator_event_partition_key_idx;
