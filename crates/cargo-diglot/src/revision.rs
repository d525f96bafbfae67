//! A project's files as an earlier revision has them, checked out by git into a folder of their own.
//!
//! The repository's own index and its files are not touched: git works with an index in that folder.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// What is checked out: everything that a project is read from.
const FILES: [&str; 5] = ["*.sql", "*.rs", "*.go", "diglot.*", ".sqlx/diglot.json"];

/// A checked out revision; it is removed with the value.
pub(crate) struct Tree {
    folder: tempfile::TempDir,
    /// The project's folder within the repository.
    prefix: String,
}

impl Tree {
    /// The project's folder.
    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("files").join(&self.prefix)
    }
}

/// Checks a revision out.
pub(crate) fn check_out(root: &Path, revision: &str) -> Result<Tree, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::io("make a temporary folder"))?;
    let git = Git { root, index: Some(folder.path().join("index")) };
    let prefix = git.line(&["rev-parse", "--show-prefix"]).map_err(|failure| match failure {
        Failure::Git { .. } => Failure::Git { what: format!("{} is in no repository of git", root.display()) },
        failure => failure,
    })?;
    let commit = git.commit(revision)?;
    git.run(&["read-tree", &commit], b"")?;
    let files = git.run(&[&["ls-files", "-z", "--"][..], &FILES].concat(), b"")?;
    let target = format!("--prefix={}/files/", folder.path().display());
    git.run(&["checkout-index", "--quiet", "-z", "--stdin", &target], &files)?;
    Ok(Tree { folder, prefix })
}

/// The repository that a project is in.
pub(crate) struct Git<'a> {
    pub(crate) root: &'a Path,
    /// Another index than the repository's own.
    pub(crate) index: Option<PathBuf>,
}

impl Git<'_> {
    /// The commit that a revision names.
    pub(crate) fn commit(&self, revision: &str) -> Result<String, Failure> {
        if revision.starts_with('-') {
            // It would be taken for an option.
            return Err(Failure::Git { what: format!("`{revision}` is no revision") });
        }
        self.line(&["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")]).map_err(|_| {
            let repository = self.root.display();
            Failure::Git { what: format!("there is no revision `{revision}` in the repository of {repository}") }
        })
    }

    pub(crate) fn line(&self, arguments: &[&str]) -> Result<String, Failure> {
        let output = self.run(arguments, b"")?;
        Ok(String::from_utf8_lossy(&output).trim_end_matches('\n').to_owned())
    }

    pub(crate) fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, Failure> {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(self.root);
        command.envs(self.index.iter().map(|index| ("GIT_INDEX_FILE", index)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let what = "run the command `git`, which has to be installed";
        let mut child = command.spawn().map_err(Failure::io(what))?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input).map_err(Failure::io("talk to git"))?;
        }
        let output = child.wait_with_output().map_err(Failure::io("wait for git"))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Failure::Git { what: format!("git {} failed: {said}", arguments.first().unwrap_or(&"")) })
    }
}
