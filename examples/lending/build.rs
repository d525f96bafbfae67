//! Compiles what stands below `sql/`, for both databases.

fn main() {
    diglot::build::run();
}
