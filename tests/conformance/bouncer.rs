//! A PgBouncer of a test's own.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::harness::PATIENCE;

/// Where it is looked for; packages put it where only root's path leads.
const PROGRAMS: [&str; 2] = ["pgbouncer", "/usr/sbin/pgbouncer"];

/// A PgBouncer before a server. Dropping it ends it.
pub(crate) struct Bouncer {
    process: Child,
    pub(crate) url: String,
    _folder: tempfile::TempDir,
}

impl Drop for Bouncer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Bouncer {
    /// One in that mode before the server at that URL; none where it is not installed.
    pub(crate) async fn before(url: &str, pool_mode: &str) -> Option<Self> {
        let is_there = |program: &&&str| Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok();
        let Some(program) = PROGRAMS.iter().find(is_there) else {
            eprintln!("SKIPPED behind PgBouncer: it is not installed");
            return None;
        };
        let (user, rest) = url.split_once("://").expect("a URL").1.split_once('@').expect("a URL with a user");
        let (user, password) = user.split_once(':').expect("a password");
        let (server, database) = rest.split_once('/').expect("a database");
        let (host, port) = server.split_once(':').expect("a port");
        let own = TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr()).expect("a port").port();
        let folder = tempfile::tempdir().expect("a folder");
        let settings = format!(
            "[databases]\n* = host={host} port={port} user={user} password={password}\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {own}\nunix_socket_dir =\nauth_type = any\n\
             pool_mode = {pool_mode}\nignore_startup_parameters = options,extra_float_digits\n"
        );
        let file = folder.path().join("pgbouncer.ini");
        std::fs::write(&file, settings).expect("the settings are written");
        let mut command = Command::new(program);
        // Root may not run it.
        if let Some(other) = other_user() {
            command.args(["-u", other]);
        }
        let process = command.arg("-q").arg(&file).stderr(Stdio::null()).spawn().expect("it starts");
        let bouncer =
            Self { process, url: format!("postgres://{user}:{password}@127.0.0.1:{own}/{database}"), _folder: folder };
        let wait = async {
            while TcpStream::connect(("127.0.0.1", own)).is_err() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.expect("it listens");
        Some(bouncer)
    }
}

/// Whom root runs a program as that does not run as root.
fn other_user() -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt as _;

    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    is_root.then_some("nobody")
}
