//! The command line on both databases: what it prints, what it does, and how it fails.

mod doctor;
mod place;
mod refused;
mod work;
