//! The command line on both databases: what it prints, what it does, and how it fails.

mod doctor;
#[path = "../../../../tests/conformance/handing_on.rs"]
mod handing_on;
mod paused;
mod place;
mod refused;
mod schema;
mod work;
