//! The program `cargo-diglot`; everything is in the library.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A check is made of small pieces of memory; with the system's allocator a third of it is getting and returning them.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    cargo_diglot::run(std::env::args_os())
}
