//! The server's process and the guard beside it: started together, stopped together.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::binaries::Binaries;
use super::owner::Owner;
use super::{Options, START_LIMIT, StartError, log_file, log_tail, settings};

/// How long the server may take to shut down before it is killed.
const STOP_LIMIT: Duration = Duration::from_secs(10);

/// What the guard does once this process is gone: it reads until the end of its input, which nobody writes.
/// The server's last child may still be writing when the server is gone, so removing is tried again.
const GUARD: &str = r#"read -r _ || :
[ "$(head -n 1 "$2/data/postmaster.pid" 2>/dev/null)" = "$1" ] && kill -QUIT "$1"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -e "$2/data/postmaster.pid" ] || rm -rf "$2" 2>/dev/null
    [ -e "$2" ] || exit 0
    sleep 0.5
done
rm -rf "$2""#;

#[derive(Debug)]
pub(super) struct Postmaster {
    pub(super) process: Child,
    /// A shell; without one there is no guard, and that is all.
    guard: Option<Child>,
    stops_with: Signal,
}

impl Postmaster {
    pub(super) fn spawn(
        binaries: &Binaries,
        owner: &Owner,
        folder: &Path,
        port: u16,
        options: Options,
    ) -> Result<Self, StartError> {
        let log = log_file(folder);
        owner.write_file(&log, "")?;
        let open = || File::options().append(true).open(&log);
        let io = |source| StartError::Io { what: "start the Postgres server".into(), source };
        let (out, err) = (open().map_err(io)?, open().map_err(io)?);
        let mut command = owner.command(&binaries.postgres(), folder);
        command.arg("-D").arg(folder.join("data"));
        for setting in settings(folder, port, options) {
            command.arg("-c").arg(setting);
        }
        let process = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn().map_err(io)?;
        let guard = spawn_guard(process.id(), folder);
        let stops_with = if options.durable { Signal::INT } else { Signal::QUIT };
        Ok(Self { process, guard, stops_with })
    }

    /// Waits for the word that the server writes into its pid file once it accepts connections.
    pub(super) fn wait_until_ready(&mut self, folder: &Path) -> Result<(), StartError> {
        let pid_file = folder.join("data").join("postmaster.pid");
        let start = Instant::now();
        while start.elapsed() < START_LIMIT {
            let exited = self
                .process
                .try_wait()
                .map_err(|source| StartError::Io { what: "wait for the Postgres server".into(), source })?;
            if let Some(status) = exited {
                return Err(StartError::Program { program: "postgres", status, output: log_tail(folder) });
            }
            if says_ready(&fs::read_to_string(&pid_file).unwrap_or_default(), self.process.id()) {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Err(StartError::NotReady { output: log_tail(folder) })
    }

    /// Ends the server and its children without a shutdown, and waits for it.
    pub(super) fn crash(&mut self) {
        if let Some(pid) = self.pid() {
            kill_process(pid, Signal::QUIT).ok();
        }
        self.process.wait().ok();
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.process.id()).ok().and_then(Pid::from_raw)
    }

    /// Asks for a shutdown, then insists: a fast one where what was written is to last, one without writing otherwise.
    fn stop(&mut self) {
        if matches!(self.process.try_wait(), Ok(Some(_))) {
            return;
        }
        if let Some(pid) = self.pid() {
            kill_process(pid, self.stops_with).ok();
            let start = Instant::now();
            while start.elapsed() < STOP_LIMIT {
                if !matches!(self.process.try_wait(), Ok(None)) {
                    return;
                }
                thread::sleep(Duration::from_millis(10));
            }
            // An immediate shutdown still takes the server's own children along; a kill would not.
            kill_process(pid, Signal::QUIT).ok();
            thread::sleep(Duration::from_secs(1));
        }
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

impl Drop for Postmaster {
    fn drop(&mut self) {
        self.stop();
        if let Some(mut guard) = self.guard.take() {
            // The guard would act on the end of its input, so it goes before its input closes.
            guard.kill().ok();
            guard.wait().ok();
        }
    }
}

fn spawn_guard(server: u32, folder: &Path) -> Option<Child> {
    Command::new("/bin/sh")
        .args(["-c", GUARD, "guard", &server.to_string()])
        .arg(folder)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .ok()
}

/// Whether a `postmaster.pid` is that of the server and says that connections are accepted.
fn says_ready(pid_file: &str, server: u32) -> bool {
    let mut lines = pid_file.lines().map(str::trim);
    let ours = lines.next().and_then(|pid| pid.parse().ok()) == Some(server);
    ours && lines.nth(6) == Some("ready")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_pid_file_of_this_server_counts() {
        let file = "42\n/data\n1700000000\n5432\n/sock\n127.0.0.1\n  1 2\nready   \n";
        assert!(says_ready(file, 42));
        assert!(!says_ready(file, 43));
        assert!(!says_ready(&file.replace("ready", "starting"), 42));
        assert!(!says_ready("42\n/data\n", 42));
    }
}
