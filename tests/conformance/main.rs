//! One suite for every database: each behaviour is written once and runs on a SQLite file, on SQLite in
//! memory, and on Postgres.
//!
//! Postgres is the server that `FF_TEST_POSTGRES_URL` names (a superuser's URL); each test gets a database
//! of its own there. Without the variable those tests say so and pass, except where `CI` is set. Time
//! stands still unless a test moves it. Builds with a single dialect have no suite to run.

#![cfg(all(feature = "sqlite", feature = "postgres"))]

mod admission;
mod attempt;
mod budget;
mod claim;
mod edge;
mod execution;
mod fence;
mod flow;
mod harness;
mod lease;
mod lifecycle;
mod nul;
mod operator;
mod queue;
mod quota;
mod reclaim;
mod schedule;
mod stream;
mod stream_live;
mod subscription;
mod subscription_order;
mod sweep;
mod tag;
mod typed;
mod worker;
