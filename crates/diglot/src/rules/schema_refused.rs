//! An engine refuses a statement of a migration.
//!
//! # What it finds
//!
//! On SQLite: several changes in one ALTER TABLE, a change of a column or of a constraint, CREATE OR REPLACE VIEW. On
//! Postgres: a trigger with a body instead of a function, an index over an expression without brackets, a foreign key to
//! columns that are no key or hold values of another kind.
//!
//! # Why it bites
//!
//! The migration fails where it runs. A foreign key to no key is worse: SQLite takes it and fails when rows come; one to
//! values of another kind finds no parent there.
//!
//! # Write instead
//!
//! One ALTER TABLE for each change; a new table and a copy where SQLite cannot change the old one; DROP VIEW before CREATE
//! VIEW; `EXECUTE FUNCTION`; `((a + b))`; UNIQUE on the columns that are referred to, with columns of
//! the same type.
//!
//! # Example
//!
//! ```text
//! ALTER TABLE job ADD COLUMN b INTEGER;
//! ALTER TABLE job ADD COLUMN c INTEGER;
//! ```
