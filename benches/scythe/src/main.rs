//! `scythe-generate SCHEMA QUERIES OUT`: reads a Postgres schema and annotated queries and writes Rust for sqlx, with the
//! steps of `scythe generate` and its libraries.
//!
//! Its command line brings a DuckDB and a SQLite that it builds from source; generating needs neither.

use std::error::Error;
use std::process::ExitCode;
use std::{env, fs};

use scythe_codegen::{generate_with_backend_and_overrides, get_backend};
use scythe_core::analyzer::analyze;
use scythe_core::catalog::Catalog;
use scythe_core::dialect::SqlDialect;
use scythe_core::parser::parse_query_with_dialect;

fn main() -> ExitCode {
    match generate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn generate() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [schema, queries, out] = arguments.as_slice() else {
        return Err("name a schema, a file of queries and a file to write".into());
    };
    let dialect = SqlDialect::PostgreSQL;
    let catalog = Catalog::from_ddl_with_dialect(&[&fs::read_to_string(schema)?], &dialect)?.with_engine("postgresql");
    let backend = get_backend("rust-sqlx", "postgresql")?;
    let mut rust = String::new();
    for block in fs::read_to_string(queries)?.split_inclusive(";\n").filter(|block| !block.trim().is_empty()) {
        let analyzed = analyze(&catalog, &parse_query_with_dialect(block.trim(), &dialect)?)?;
        let code = generate_with_backend_and_overrides(&analyzed, &*backend, &[])?;
        for part in [code.enum_def, code.model_struct, code.row_struct, code.query_fn].into_iter().flatten() {
            rust.push_str(&part);
            rust.push('\n');
        }
    }
    Ok(fs::write(out, rust)?)
}
