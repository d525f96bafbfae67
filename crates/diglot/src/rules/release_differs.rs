//! A statement of one release does something else on the tables of another.
//!
//! # What it finds
//!
//! What `cargo diglot verify --since REV` finds: a statement of the release REV that a database refuses once the migrations
//! of now have run, or that answers otherwise there or leaves other rows than before them, on the same small data. The other
//! way round it warns: a statement of now that does not do on the tables of REV what it does on its own. A migration that
//! REV has run and that is gone, or reads otherwise now, is an error.
//!
//! # Why it bites
//!
//! While a new release is rolled out its migrations have run, and programs of both releases are at work. Tests run one
//! release on its own tables.
//!
//! # Write instead
//!
//! Two releases. The first adds what is new beside what is there: a column that may be NULL or has a default, a table, a
//! trigger that keeps both columns alike. The second takes the old away when no program uses it. Where programs of REV are
//! stopped before the migrations run, nothing of this matters.
//!
//! # Example
//!
//! ```text
//! ALTER TABLE job ADD COLUMN lane text NOT NULL DEFAULT 'default';
//! ```
