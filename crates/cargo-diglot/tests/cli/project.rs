//! A project in a folder of its own: the one in `tests/cli/project`, with the engines' answers.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use cargo_diglot::postgres::{Options, Server};

/// A project that is removed with the value.
pub(crate) struct Project {
    folder: tempfile::TempDir,
}

/// How a command ended and what it said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Project {
    /// The project as it is in the repository, with nothing recorded.
    pub(crate) fn unprepared() -> Self {
        Self::copy_of("project")
    }

    /// A copy of a folder beside these tests.
    pub(crate) fn copy_of(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli").join(name), folder.path());
        Self { folder }
    }

    /// A folder with nothing in it.
    pub(crate) fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// The project with its answers, so that nothing is wrong with it.
    pub(crate) fn clean() -> Self {
        static ANSWERS: OnceLock<BTreeMap<String, String>> = OnceLock::new();
        let answers = ANSWERS.get_or_init(|| {
            let project = Self::unprepared();
            let ended = project.prepare(&[]);
            assert_eq!(ended.code, Some(0), "{ended:?}");
            project.answers()
        });
        let project = Self::unprepared();
        for (name, text) in answers {
            project.write(&format!(".sqlx/{name}"), text);
        }
        project
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    pub(crate) fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).unwrap_or_else(|error| panic!("{relative}: {error}"))
    }

    pub(crate) fn write(&self, relative: &str, text: impl AsRef<[u8]>) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // In one step: whoever watches the project never reads half a file.
        let written = self.path(".written");
        fs::write(&written, text).unwrap();
        fs::rename(written, path).unwrap();
    }

    /// Replaces a text that stands in a file exactly once.
    pub(crate) fn edit(&self, relative: &str, from: &str, to: &str) {
        let text = self.read(relative);
        assert_eq!(text.matches(from).count(), 1, "`{from}` in {relative}");
        self.write(relative, text.replace(from, to));
    }

    /// The recorded answers by file name.
    pub(crate) fn answers(&self) -> BTreeMap<String, String> {
        let names = fs::read_dir(self.path(".sqlx")).unwrap().map(|entry| entry.unwrap().file_name());
        names
            .map(|name| {
                let name = name.into_string().unwrap();
                let text = self.read(&format!(".sqlx/{name}"));
                (name, text)
            })
            .collect()
    }

    /// Runs the command line in the project's folder.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.command(arguments).output().unwrap())
    }

    /// The same with a variable of the environment.
    pub(crate) fn run_with(&self, arguments: &[&str], (variable, value): (&str, &str)) -> Ended {
        Ended::of(self.command(arguments).env(variable, value).output().unwrap())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-diglot"));
        command.arg("diglot").args(arguments).current_dir(self.folder.path());
        // A URL that leads nowhere, to show that nobody reads it.
        command.env("DATABASE_URL", "postgres://nobody@nowhere/x").env_remove("DIGLOT_POSTGRES_URL");
        // Where these tests run themselves says nothing about what they run.
        for name in ["GITHUB_BASE_REF", "NO_COLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn check(&self) -> Ended {
        self.run(&["check"])
    }

    /// Asks the engines, with a server that all tests share.
    pub(crate) fn prepare(&self, arguments: &[&str]) -> Ended {
        self.run(&[&["prepare", "--postgres", postgres()], arguments].concat())
    }
}

impl Ended {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// All that the user sees.
    pub(crate) fn seen(&self) -> String {
        format!("{}{}(exit code {})\n", self.stdout, self.stderr, self.code.unwrap_or(-1))
    }
}

/// The parts of a case by their headings, which stand behind a mark.
pub(crate) fn parts<'c>(case: &'c str, mark: &str) -> BTreeMap<&'c str, String> {
    let mut parts: BTreeMap<&str, String> = BTreeMap::new();
    let mut heading = "";
    for line in case.lines().skip(1) {
        match line.strip_prefix(mark) {
            Some(next) => heading = next,
            None => parts.entry(heading).or_default().extend([line, "\n"]),
        }
    }
    parts
}

/// The URL of the server that somebody named, or of one for this process.
pub(crate) fn postgres() -> &'static str {
    static URL: OnceLock<(String, Option<Server>)> = OnceLock::new();
    // A server in a static is never dropped; its guard stops it when this process ends.
    let (url, _) = URL.get_or_init(|| match env::var("DIGLOT_POSTGRES_URL") {
        Ok(url) => (url, None),
        Err(_) => {
            let server = Server::start(Options::default()).unwrap();
            (server.url().to_owned(), Some(server))
        }
    });
    url
}

/// Runs git in a project's folder.
pub(crate) fn git(project: &Project, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]).args(arguments);
    command.current_dir(project.path(".")).stdin(Stdio::null());
    let ended = Ended::of(command.output().unwrap());
    assert_eq!(ended.code, Some(0), "{}", ended.seen());
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
