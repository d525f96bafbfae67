//! A step reads a whole table of Postgres under a lock that keeps others away.
//!
//! # What it finds
//!
//! With `[migrations]` in the settings: SET NOT NULL where no valid CHECK says it already, ADD CHECK and ADD FOREIGN KEY without
//! NOT VALID, a column that is added with a CHECK or with a default that refers to another table, ATTACH PARTITION, and VALIDATE
//! CONSTRAINT in a transaction that holds such a lock, as the one that adds the constraint does.
//!
//! # Why it bites
//!
//! Every row is read while nobody writes the table, or nobody reads it. NOT VALID followed by VALIDATE in one transaction is no
//! better than either: the lock of the first is held until the commit.
//!
//! # Write instead
//!
//! The constraint NOT VALID in one step, `VALIDATE CONSTRAINT` in the next: it reads the table beside readers and writers. For NOT
//! NULL a CHECK of the same goes ahead; SET NOT NULL then looks at nothing, and the CHECK can go.
//!
//! # Example
//!
//! ```text
//! -- first step
//! ALTER TABLE job ADD CONSTRAINT job_title_is_there CHECK (title IS NOT NULL) NOT VALID;
//! -- second step
//! ALTER TABLE job VALIDATE CONSTRAINT job_title_is_there;
//! -- third step
//! ALTER TABLE job ALTER COLUMN title SET NOT NULL;
//! ALTER TABLE job DROP CONSTRAINT job_title_is_there;
//! ```
