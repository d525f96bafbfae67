-- Where the two schemas are meant to differ. The migrations that the existing backends share may not change by a
-- byte, so what is to be said about them is said here.

-- diverges(table.ff_execution_capabilities): SQLite has no array columns, so what an execution requires is rows of a table.
-- diverges(column.ff_exec_core.required_capabilities): SQLite has no array columns, so what an execution requires is rows of a table.
-- diverges(index.ff_exec_core.ff_exec_core_caps_gin_idx): it finds executions by an array, which only Postgres has.
-- diverges(type.ff_budget_usage_by_exec.execution_id): the databases that exist hold text on SQLite, and stay as they are.

-- diverges(key.ff_completion_event): AUTOINCREMENT wants the id alone as the key; Postgres wants the partition key in it.
-- diverges(default.ff_completion_event.committed_at_ms): each engine asks its own clock; both give milliseconds since 1970.

-- diverges(column.ff_worker_registry.partition_key): the registry is partitioned on Postgres alone, where it spreads the load.
-- diverges(key.ff_worker_registry): a key of a partitioned table holds the partition key.
-- diverges(column.ff_worker_registry_event.partition_key): the registry is partitioned on Postgres alone, where it spreads the load.
-- diverges(key.ff_worker_registry_event): a key of a partitioned table holds the partition key.

-- diverges(table.ff_claimable): a view over one index on SQLite; on Postgres no index spans the partitions, so triggers keep a table.
-- diverges(column.ff_claimable.required_capabilities): SQLite has no array columns, so what an execution requires is rows of a table.
-- diverges(column.ff_claimable.entered): SQLite has one writer, so a trigger moves marks back; on Postgres what enters the queue cannot be seen before its commit.
-- diverges(column.ff_claim_mark.entered): as for the queue.
-- diverges(column.ff_claim_mark.server_started_at): numbers of transactions belong to a server that runs; SQLite's marks have none.
-- diverges(index.ff_claim_mark.ff_claim_mark_lane_idx): SQLite's triggers find marks by their lane; on Postgres nobody does, and a lane may be longer than an entry of an index.
-- diverges(index.ff_exec_core.ff_exec_core_claimable_idx): the index behind the view; Postgres has it on the table.
-- diverges(table.ff_delayed): a view over one index on SQLite; on Postgres no index spans the partitions, so triggers keep a table.
-- diverges(index.ff_exec_core.ff_exec_core_delayed_idx): the index behind the view; Postgres has it on the table.
-- diverges(index.ff_exec_core.ff_exec_core_delayed_lane_idx): the index behind the view; Postgres has it on the table.
-- diverges(table.ff_granted): a view over one index on SQLite; on Postgres no index spans the partitions, so triggers keep a table.
-- diverges(index.ff_exec_core.ff_exec_core_granted_idx): the index behind the view; Postgres has it on the table.
-- diverges(index.ff_exec_core.ff_exec_core_offered_idx): the index behind a view; Postgres has the rows in ff_claimable.

-- diverges(index.ff_exec_core.ff_exec_core_blocked_idx): the same three words; for a list of them SQLite fills a table in memory at every update.
-- diverges(index.ff_attempt.ff_attempt_lease_due_idx): Postgres has the like in every partition; one more there would be paid for by every claim.
-- diverges(index.ff_lease_event.ff_lease_event_namespace_idx): a namespace or tag may be longer than an entry of a Postgres index, and nothing looks events up by it; SQLite's entries have no limit, and the files that exist keep them.
-- diverges(index.ff_lease_event.ff_lease_event_instance_tag_idx): a namespace or tag may be longer than an entry of a Postgres index, and nothing looks events up by it; SQLite's entries have no limit, and the files that exist keep them.
-- diverges(index.ff_signal_event.ff_signal_event_namespace_idx): a namespace or tag may be longer than an entry of a Postgres index, and nothing looks events up by it; SQLite's entries have no limit, and the files that exist keep them.
-- diverges(index.ff_signal_event.ff_signal_event_instance_tag_idx): a namespace or tag may be longer than an entry of a Postgres index, and nothing looks events up by it; SQLite's entries have no limit, and the files that exist keep them.
-- diverges(index.ff_operator_event.ff_operator_event_namespace_idx): a namespace or tag may be longer than an entry of a Postgres index, and nothing looks events up by it; SQLite's entries have no limit, and the files that exist keep them.
-- diverges(index.ff_operator_event.ff_operator_event_instance_tag_idx): a namespace or tag may be longer than an entry of a Postgres index, and nothing looks events up by it; SQLite's entries have no limit, and the files that exist keep them.

-- allow(not-strict): the databases that exist have these tables, and SQLite cannot make a table STRICT afterwards.
-- allow(key-collation): the databases that exist have these columns; the statements that order by them say what they need.
-- allow(unchecked-json): the databases that exist have these columns; what is written there is made by serde_json.
-- allow(unchecked-flag): the databases that exist have these columns; what is written there is a bool.
-- allow(unchecked-uuid): the databases that exist have these columns; what is written there is a Uuid.
-- allow(narrow-column): the databases that exist have these columns; partitions, attempts and counts stay small.

-- Where the tables are spread over nodes of Citus, `schema/ledger/pg/spread.sql` does it.
-- allow(key-without-shard): spreading gives the outboxes a key that begins with the partition.
-- allow(shard-key-type): spreading gives the outboxes' partition the type that it has elsewhere.
-- allow(trigger-on-shards): the triggers that notify go away with spreading, and those of queues write beside their own row.

-- allow(migration-differs.0001_initial): the row says in how many tables a release of that database kept its partitions, and which release made it.
-- allow(migration-differs.0020_budget_usage_by_exec): the release for Postgres noted its own migration 0019, which SQLite never had: its table came with 1001.

-- Steps that have landed stay as they are.
-- allow(blocking-index.1080_claim_marks): it has landed: the queue is away until its second index is built.
-- allow(blocking-index.1150_order_is_no_key): it has landed: the queue is away until the index of its order is built.
-- allow(blocking-index.1161_event_times): the migrator makes the indexes of such a file beside writers (`src/db/migrate/index.rs`).
-- allow(blocking-index.1162_delayed_lanes): the migrator makes the indexes of such a file beside writers (`src/db/migrate/index.rs`).
