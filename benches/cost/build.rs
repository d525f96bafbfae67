//! Compiles the SQL of `sql/` into the API that `src/statements.rs` includes, and into the same for rusqlite, which
//! `src/by_rusqlite.rs` includes.

use std::path::Path;
use std::{env, error::Error, fs};

use diglot::config::Driver;

fn main() -> Result<(), Box<dyn Error>> {
    diglot::build::run();
    let mut inputs = diglot::build::load(Path::new(&env::var("CARGO_MANIFEST_DIR")?))?;
    inputs.config.generate.driver = Driver::Pair;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("rusqlite.rs"), diglot::compile(&inputs).rust)?;
    Ok(())
}
