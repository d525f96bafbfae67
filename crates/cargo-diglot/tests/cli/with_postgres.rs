//! `cargo diglot with-postgres`, run as a user runs it. Needs the programs of a Postgres server.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// A generous bound that only a failure ever reaches.
const LIMIT: Duration = Duration::from_secs(60);

fn with_postgres(script: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-diglot"));
    command.args(["diglot", "with-postgres", "--", "sh", "-c", script]).stdin(Stdio::null());
    command
}

/// The port in `postgres://…@127.0.0.1:PORT/postgres`.
fn port(url: &str) -> u16 {
    let (_, rest) = url.split_once("@127.0.0.1:").unwrap_or_else(|| panic!("{url}"));
    rest.split('/').next().unwrap().parse().unwrap()
}

fn is_listening(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

fn becomes(condition: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        if condition() {
            return true;
        }
        thread::sleep(Duration::from_millis(50));
    }
    false
}

/// The folder of the server that listens there, which holds its socket.
fn folder(port: u16) -> PathBuf {
    let folders = fs::read_dir(env::temp_dir()).unwrap().map(|entry| entry.unwrap().path());
    let mut ours = folders.filter(|folder| folder.join(format!(".s.PGSQL.{port}")).exists());
    ours.next().expect("a folder with the server's socket")
}

/// Starts a command that goes on as long as its input, and gives the port of its server.
fn start() -> (Child, ChildStdin, u16) {
    // The command ends with its input, which this process holds: it is not left behind by a killed tool.
    let mut command = with_postgres("echo $DIGLOT_POSTGRES_URL; exec cat");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // Waiting for a child closes its input, unless it was taken out.
    let input = child.stdin.take().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let port = port(&line);
    assert!(is_listening(port));
    (child, input, port)
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id().try_into().unwrap()).unwrap(), signal).unwrap();
}

#[test]
fn the_command_finds_the_server_in_both_variables_and_its_exit_code_is_passed_on() {
    let output = with_postgres("echo $DIGLOT_POSTGRES_URL; echo $FF_TEST_POSTGRES_URL; exit 7").output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    let text = String::from_utf8(output.stdout).unwrap();
    let urls: Vec<&str> = text.lines().collect();
    assert_eq!(urls.len(), 2);
    assert_eq!(urls[0], urls[1]);
    assert!(!is_listening(port(urls[0])));
}

#[test]
fn the_server_is_listening_while_the_command_runs() {
    let (mut child, _input, port) = start();
    let folder = folder(port);
    signal(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(becomes(|| !is_listening(port)));
    assert!(becomes(|| !folder.exists()));
}

#[test]
fn ctrl_c_stops_the_server_as_well() {
    let (mut child, _input, port) = start();
    let folder = folder(port);
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(becomes(|| !is_listening(port)));
    assert!(becomes(|| !folder.exists()));
}

#[test]
fn the_server_does_not_outlive_a_killed_tool() {
    let (mut child, _input, port) = start();
    let folder = folder(port);
    signal(&child, Signal::KILL);
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    assert!(becomes(|| !is_listening(port)));
    assert!(becomes(|| !folder.exists()));
}

#[test]
fn a_command_that_cannot_be_run_is_the_tools_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-diglot"))
        .args(["with-postgres", "--", "/no/such/program"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut words = String::new();
    child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(words, "error: cannot run /no/such/program: No such file or directory (os error 2)\n");
}
