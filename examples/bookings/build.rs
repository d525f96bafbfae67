//! Generates the statements, with the library of times that a feature of this crate chooses. A project with one library
//! writes it into `diglot.toml` and calls `diglot::build::run()`.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let root = env::var("CARGO_MANIFEST_DIR")?;
    let mut inputs = diglot::build::load(Path::new(&root))?;
    let chosen = ["chrono", "time", "jiff"]
        .iter()
        .find(|name| env::var_os(format!("CARGO_FEATURE_{}", name.to_uppercase())).is_some());
    inputs.config.types.insert("times".to_owned(), chosen.unwrap_or(&"chrono").to_string());
    let rust = diglot::compile(&inputs).rust;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("statements.rs"), rust)?;
    for place in ["diglot.toml", "sql", "schema"] {
        println!("cargo:rerun-if-changed={place}");
    }
    Ok(())
}
