-- A namespace and a tag may be longer than an entry of an index, and nothing looks events up by them: subscriptions
-- read an outbox by its ids and judge these words row by row.

DROP INDEX IF EXISTS ff_lease_event_namespace_idx;
DROP INDEX IF EXISTS ff_lease_event_instance_tag_idx;
DROP INDEX IF EXISTS ff_signal_event_namespace_idx;
DROP INDEX IF EXISTS ff_signal_event_instance_tag_idx;
DROP INDEX IF EXISTS ff_operator_event_namespace_idx;
DROP INDEX IF EXISTS ff_operator_event_instance_tag_idx;
