//! Compiles the pages below `sql/`.

fn main() {
    diglot::build::run();
}
