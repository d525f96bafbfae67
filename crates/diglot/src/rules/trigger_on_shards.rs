//! A table that is spread has a trigger.
//!
//! # What it finds
//!
//! With `distributed`: a trigger of a table that is spread.
//!
//! # Why it bites
//!
//! Citus refuses to spread such a table unless the setting `citus.enable_unsafe_triggers` is on. Then the trigger runs on
//! the node of the row's shard, and what it writes to other tables is not looked at.
//!
//! # Write instead
//!
//! The trigger's work in the statement. Otherwise the setting, and a function that writes rows of the same key alone;
//! `-- allow(trigger-on-shards): reason` beside the migrations says so.
//!
//! # Example
//!
//! ```text
//! -- allow(trigger-on-shards.job.job_queue): it writes rows of the job's own key
//! ```
