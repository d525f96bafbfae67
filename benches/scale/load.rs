//! Executions by generated SQL: the rows that the operations would have left.

use ff_core::types::FlowId;

use crate::Store;

/// When everything loaded happened.
const THEN_MS: i64 = 1_700_000_000_000;

/// The numbers of the executions' edges lie above those of the executions.
const EDGES: u64 = 1 << 40;

/// What differs between the databases in the statements below.
struct Words {
    /// The rows of a relation `n(i)` from a number up to below another.
    numbers: fn(u64, u64) -> String,
    /// A uuid of a number.
    uuid: fn(&str) -> String,
    /// A uuid of 32 hex digits.
    literal: fn(&str) -> String,
    /// The text of a uuid.
    text: fn(&str) -> String,
    before: &'static [&'static str],
    after: &'static [&'static str],
}

const SQLITE: Words = Words {
    numbers: |from, to| {
        format!("WITH RECURSIVE n(i) AS (SELECT {from} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {to})")
    },
    uuid: |number| format!("unhex(printf('%032x', {number}))"),
    literal: |hex| format!("x'{hex}'"),
    text: |number| {
        let hex = format!("printf('%032x', {number})");
        let part = |from: u32, length: u32| format!("substr({hex}, {from}, {length})");
        [part(1, 8), part(9, 4), part(13, 4), part(17, 4), part(21, 12)].join(" || '-' || ")
    },
    // The load is not what is measured.
    before: &["PRAGMA synchronous = OFF", "PRAGMA cache_size = -400000"],
    after: &["PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA synchronous = FULL", "PRAGMA cache_size = -2000"],
};

const POSTGRES: Words = Words {
    numbers: |from, to| format!("WITH n(i) AS (SELECT generate_series(CAST({from} AS bigint), {to} - 1))"),
    uuid: |number| format!("CAST(lpad(to_hex({number}), 32, '0') AS uuid)"),
    literal: |hex| format!("CAST('{hex}' AS uuid)"),
    text: |number| format!("CAST(CAST(lpad(to_hex({number}), 32, '0') AS uuid) AS text)"),
    before: &["SET synchronous_commit = off"],
    after: &["SET synchronous_commit = on", "ANALYZE", "CHECKPOINT"],
};

/// The id of a loaded execution.
pub(crate) fn id_of(number: u64, flow_partitions: &[u16]) -> String {
    let partition = match number % 10 {
        0 => u64::from(flow_partitions[usize::try_from(number / 10 % 10).unwrap_or_default()]),
        _ => number % 256,
    };
    let hex = format!("{:032x}", number + 1);
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    format!("{{fp:{partition}}}:{}", parts.join("-"))
}

/// The statements that add the executions of those numbers and what belongs to them.
pub(crate) fn statements(store: &Store, from: u64, to: u64, flows: &[(FlowId, u16)]) -> Vec<String> {
    let words = match store {
        Store::Sqlite(_) => &SQLITE,
        Store::Postgres(_) => &POSTGRES,
    };
    let (numbers, id) = ((words.numbers)(from, to), (words.uuid)("i + 1"));
    let flow_rows: Vec<String> = flows
        .iter()
        .enumerate()
        .map(|(at, (flow, partition))| {
            format!("({at}, {}, {partition})", (words.literal)(&flow.0.simple().to_string()))
        })
        .collect();
    let numbers_and_flows = format!("{numbers}, f(flow, flow_id, home) AS (VALUES {})", flow_rows.join(", "));
    let document = "'{\"namespace\":\"scale\",\"tags\":{\"team.color\":\"red\"},\"total_attempt_count\":\"1\"}'";
    let (text, then) = ((words.text)("i + 1"), THEN_MS);
    let core = "INSERT INTO ff_exec_core (partition_key, execution_id, flow_id, lane_id, lifecycle_phase, \
                ownership_state, eligibility_state, public_state, attempt_state, created_at_ms, terminal_at_ms, payload, \
                result, raw_fields)";
    let done = "WHERE i % 10 > 1";
    let edge = (words.uuid)(&format!("{EDGES} + i"));
    let upstream = (words.uuid)("i + 1 - 100");
    let mut all: Vec<String> = words.before.iter().map(ToString::to_string).collect();
    all.push("BEGIN".to_owned());
    all.extend([
        format!(
            "{numbers} {core} SELECT i % 256, {id}, NULL, 'done', 'terminal', 'unowned', 'not_applicable', 'completed', \
             'attempt_terminal', {then} + i, {then} + i, NULL, NULL, {document} FROM n {done}"
        ),
        format!(
            "{numbers} {core} SELECT i % 256, {id}, NULL, 'waiting', 'submitted', 'unowned', 'eligible_now', 'waiting', \
             'pending', {then} + i, NULL, NULL, NULL, {document} FROM n WHERE i % 10 = 1"
        ),
        format!(
            "{numbers_and_flows} {core} SELECT home, {id}, flow_id, 'flow', 'submitted', 'unowned', \
             'blocked_by_dependencies', 'waiting_children', 'pending', {then} + i, NULL, NULL, NULL, {document} \
             FROM n JOIN f ON flow = i / 10 % 10 WHERE i % 10 = 0"
        ),
        format!(
            "{numbers_and_flows} INSERT INTO ff_edge (partition_key, flow_id, edge_id, upstream_eid, downstream_eid, \
             policy) SELECT home, flow_id, {edge}, {upstream}, {id}, \
             '{{\"dependency_kind\":\"success_only\",\"edge_state\":\"applied\",\"applied_at_ms\":1}}' \
             FROM n JOIN f ON flow = i / 10 % 10 WHERE i % 10 = 0 AND i >= 100"
        ),
        format!(
            "{numbers_and_flows} INSERT INTO ff_edge_group (partition_key, flow_id, downstream_eid, policy, \
             running_count) SELECT home, flow_id, {id}, '{{\"kind\":\"all_of\"}}', 1 \
             FROM n JOIN f ON flow = i / 10 % 10 WHERE i % 10 = 0 AND i >= 100"
        ),
        format!(
            "{numbers} INSERT INTO ff_attempt (partition_key, execution_id, attempt_index, worker_id, \
             worker_instance_id, lease_epoch, started_at_ms, terminal_at_ms, outcome) SELECT i % 256, {id}, 0, \
             'loader', 'loader-1', 1, {then} + i, {then} + i, 'success' FROM n {done}"
        ),
        format!(
            "{numbers} INSERT INTO ff_lease_event (execution_id, lease_id, event_type, occurred_at_ms, partition_key, \
             namespace) SELECT {text}, {text}, kind, {then} + i, i % 256, 'scale' FROM n \
             JOIN (SELECT 'acquired' AS kind UNION ALL SELECT 'revoked') AS kinds ON true {done}"
        ),
        format!(
            "{numbers} INSERT INTO ff_completion_event (partition_key, execution_id, outcome, namespace, \
             occurred_at_ms) SELECT i % 256, {id}, 'success', 'scale', {then} + i FROM n {done}"
        ),
        format!(
            "{numbers} INSERT INTO ff_stream_frame (partition_key, execution_id, attempt_index, ts_ms, seq, fields, \
             mode, created_at_ms) SELECT i % 256, {id}, 0, {then} + i, 0, '{{\"payload\":\"x\"}}', 'durable', {then} + i \
             FROM n {done}"
        ),
        "COMMIT".to_owned(),
    ]);
    all.extend(words.after.iter().map(ToString::to_string));
    all
}
