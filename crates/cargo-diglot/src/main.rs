//! The program `cargo-diglot`; everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    cargo_diglot::run(std::env::args_os())
}
