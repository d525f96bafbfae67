//! Where a new crate finds the compiler that belongs to this command line: as a dependency in its `Cargo.toml`.
//!
//! Cargo keeps a record beside the programs that it installs, which says where each came from. A program that was not
//! installed was built in a clone.

use std::env;
use std::fs;
use std::path::{Component, Path};

use serde_json::Value;

/// Cargo's record, beside the folder of the programs.
const RECORD: &str = ".crates2.json";

/// The lines of `Cargo.toml` for a crate in this folder.
pub(super) fn dependency(root: &Path) -> String {
    if let Some(git) = record().and_then(|text| of_git(&text)) {
        return git;
    }
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("diglot");
    if !beside.join("Cargo.toml").is_file() {
        return format!("diglot = {:?}", env!("CARGO_PKG_VERSION"));
    }
    let why = "# The compiler in the clone that the command line was built in. For everybody else: \
               `diglot = { git = \"URL of the clone\" }`.";
    format!("{why}\ndiglot = {{ path = {:?} }}", relative(root, &beside))
}

fn record() -> Option<String> {
    let program = env::current_exe().ok()?;
    fs::read_to_string(program.parent()?.parent()?.join(RECORD)).ok()
}

/// The dependency for a command line that was installed by `cargo install --git`.
fn of_git(record: &str) -> Option<String> {
    let record: Value = serde_json::from_str(record).ok()?;
    let key = format!("{} {} (git+", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    let mut installed = record.get("installs")?.as_object()?.keys();
    let (url, revision) = installed.find_map(|source| source.strip_prefix(&key)?.strip_suffix(')')?.split_once('#'))?;
    let url = without_password(url.split('?').next()?);
    Some(format!("diglot = {{ git = {url:?}, rev = {revision:?} }}"))
}

/// A URL that may be written into a file: what stands before the host of a web address is a name and a password.
fn without_password(url: &str) -> String {
    for scheme in ["https://", "http://"] {
        if let Some(rest) = url.strip_prefix(scheme) {
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            return format!("{scheme}{}/{path}", host.rsplit('@').next().unwrap_or(host));
        }
    }
    url.to_owned()
}

/// The way from one folder to another with forward slashes, or the other as it is where there is none, as between two
/// drives.
fn relative(from: &Path, to: &Path) -> String {
    let absolute = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let (from, to) = (absolute(from), absolute(to));
    let shared = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    if shared == 0 || !from.is_absolute() {
        return to.to_string_lossy().into_owned();
    }
    let up = from.components().skip(shared).map(|_| "..".to_owned());
    let down = to.components().skip(shared).map(|part: Component<'_>| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_by_git_comes_by_git_again() {
        let of = |source: &str| {
            let key = format!("cargo-diglot {} ({source})", env!("CARGO_PKG_VERSION"));
            of_git(&serde_json::json!({ "installs": { "other 0.1.0 (git+https://x/y#0)": {}, key: {} } }).to_string())
        };
        let expected = r#"diglot = { git = "https://host/team/sql", rev = "4af1" }"#;
        for url in
            ["https://host/team/sql", "https://host/team/sql?branch=main", "https://me:secret@host/team/sql?tag=v1"]
        {
            assert_eq!(of(&format!("git+{url}#4af1")).as_deref(), Some(expected), "{url}");
        }
        let ssh = r#"diglot = { git = "ssh://git@host/sql", rev = "4af1" }"#;
        assert_eq!(of("git+ssh://git@host/sql#4af1").as_deref(), Some(ssh));
        for other in ["registry+https://github.com/rust-lang/crates.io-index", "path+file:///src/crates/cargo-diglot"] {
            assert_eq!(of(other), None, "{other}");
        }
        for broken in ["", "[]", r#"{"installs": 1}"#] {
            assert_eq!(of_git(broken), None, "{broken}");
        }
    }

    #[test]
    fn the_way_to_a_folder_begins_where_the_crate_is() {
        let top = tempfile::tempdir().unwrap();
        for folder in ["notes", "work/notes", "diglot/crates/diglot"] {
            fs::create_dir_all(top.path().join(folder)).unwrap();
        }
        for (from, way) in [
            ("notes", "../diglot/crates/diglot"),
            ("work/notes", "../../diglot/crates/diglot"),
            ("diglot", "crates/diglot"),
        ] {
            assert_eq!(relative(&top.path().join(from), &top.path().join("diglot/crates/diglot")), way);
        }
    }
}
