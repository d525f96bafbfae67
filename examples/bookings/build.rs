//! Generates the statements, with the libraries of times and decimals that features of this crate choose. A project with
//! one of each writes them into `diglot.toml` and calls `diglot::build::run()`.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let root = env::var("CARGO_MANIFEST_DIR")?;
    let mut inputs = diglot::build::load(Path::new(&root))?;
    for (kind, libraries) in [("times", &["chrono", "time", "jiff"][..]), ("decimals", &["rust_decimal", "bigdecimal"])]
    {
        let chosen = |name: &&&str| env::var_os(format!("CARGO_FEATURE_{}", name.to_uppercase())).is_some();
        if let Some(name) = libraries.iter().find(chosen) {
            inputs.config.types.insert(kind.to_owned(), name.to_string());
        }
    }
    let rust = diglot::compile(&inputs).rust;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("statements.rs"), rust)?;
    for place in ["diglot.toml", "sql", "schema"] {
        println!("cargo:rerun-if-changed={place}");
    }
    Ok(())
}
