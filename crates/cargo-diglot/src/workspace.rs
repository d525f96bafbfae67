//! Packages of a Cargo workspace, as Cargo tells them.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::failure::Failure;

/// Name and folder of every package, in the order of the names.
pub(crate) fn packages() -> Result<Vec<(String, PathBuf)>, Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    let output = command.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).output();
    let output = output.map_err(Failure::io("ask Cargo for the workspace"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::Workspace { what: said.trim().trim_start_matches("error: ").to_owned() });
    }
    let told: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let package = |package: &Value| {
        let folder = PathBuf::from(package["manifest_path"].as_str()?).parent()?.to_owned();
        Some((package["name"].as_str()?.to_owned(), folder))
    };
    let mut packages: Vec<_> = told["packages"].as_array().into_iter().flatten().filter_map(package).collect();
    packages.sort();
    Ok(packages)
}

/// The folder of a package.
pub(crate) fn package(name: &str) -> Result<PathBuf, Failure> {
    let packages = packages()?;
    let known = || packages.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let found = packages.iter().find(|(known, _)| known == name).map(|(_, folder)| folder.clone());
    found.ok_or_else(|| Failure::Workspace { what: format!("no package is called `{name}`; there are: {}", known()) })
}
