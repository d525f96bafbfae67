//! What later major versions of Postgres do otherwise than the oldest one that is supported, as far as tests see it.

/// Cases of drift whose Postgres page is refused before a major version, and means there what SQLite's means.
#[allow(dead_code, reason = "each test takes what it sees")]
pub(crate) const NO_DRIFT_SINCE: [(&str, i32); 4] =
    [("generated-virtual", 18), ("hex-literal", 16), ("int-literal-suffix-where", 16), ("underscore-literal", 16)];

/// Statements with the version from which an index is read in another way, that way, and the one before.
#[allow(dead_code, reason = "each test takes what it sees")]
pub(crate) const READ_OTHERWISE_SINCE: [(&str, i32, &str, &str); 1] = [
    // A list of values for a later column of the index leads into it.
    ("retention_executions_find", 17, "ff_exec_core by ff_exec_core_pkey", "ff_exec_core along ff_exec_core_pkey"),
];
