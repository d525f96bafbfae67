//! CTEs that stand alone reach no statement, or reach it twice.
//!
//! # What it finds
//!
//! A list of CTEs alone (`WITH a AS (…);`) that stands behind a statement of its unit, or a second one; a CTE of it that
//! no statement of the unit names; `-- use:` of a shared part that is not there or of which nothing is named; a
//! `-- part:` that holds something else than such a list, that nobody uses, or whose name is taken; two CTEs of one name.
//!
//! # Why it bites
//!
//! A statement gets the CTEs that it names. What nobody gets is read by reviewers and by no engine.
//!
//! # Write instead
//!
//! One list before the first statement of the unit, or a shared part above the statements that use it.
//!
//! # Example
//!
//! ```text
//! -- part: live_job
//! WITH live AS (SELECT id FROM job WHERE id = :id AND state = 'live');
//!
//! -- name: job_end :exec
//! -- use: live_job
//! UPDATE job SET state = 'done' WHERE id IN (SELECT id FROM live);
//! ```
