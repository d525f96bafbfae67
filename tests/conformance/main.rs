//! One suite for every database: each behaviour is written once and runs on a SQLite file, on SQLite in
//! memory, and on Postgres.
//!
//! Postgres is the server that `FF_TEST_POSTGRES_URL` names (a superuser's URL); each test gets a database
//! of its own there. Without the variable those tests say so and pass, except where `CI` is set. Time
//! stands still unless a test moves it. Builds with a single dialect have no suite to run.

#![cfg(all(feature = "sqlite", feature = "postgres"))]

mod admission;
mod attempt;
mod bouncer;
mod bounds;
mod budget;
mod claim;
mod clocks;
mod deadline;
mod delay;
mod dependency;
mod door;
mod door_fields;
mod draining;
mod edge;
mod every_method;
mod execution;
mod expiry;
mod fence;
mod filtered;
mod flow;
mod flow_cancel;
mod flows_together;
mod follow;
mod give_back;
mod handing_on;
mod harness;
mod held;
mod lease;
mod lifecycle;
mod lock_order;
mod mark;
mod memory;
mod nul;
mod operator;
mod outlived;
mod overtaken;
mod paused;
mod pgbouncer;
mod poison;
mod pooler;
mod proxy;
mod queue;
mod quota;
mod reclaim;
mod resume;
mod retention;
mod schedule;
mod sessions;
mod sibling;
mod signal;
mod stream;
mod stream_live;
mod subscription;
mod subscription_order;
mod suspend;
mod suspensions_together;
mod sweep;
mod tag;
mod together;
mod trim;
mod typed;
mod waiting;
mod waitpoint;
mod worker;
