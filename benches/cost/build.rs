//! Compiles the SQL of `sql/` into the API that `src/statements.rs` includes.

fn main() {
    diglot::build::run();
}
