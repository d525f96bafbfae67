//! `cargo diglot with-postgres`: a command beside a throwaway server.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::cli::WithPostgres;
use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::postgres::{Options, Server};
use crate::{Outcome, runtime};

/// The variables in which the command finds the server.
const URL_VARIABLES: [&str; 2] = ["DIGLOT_POSTGRES_URL", "FF_TEST_POSTGRES_URL"];
/// How long a command may take to end by itself after Ctrl-C, which the terminal sends to it as well.
const AFTER_CTRL_C: Duration = Duration::from_secs(2);
/// How long it may take after it was asked to terminate.
const AFTER_TERMINATE: Duration = Duration::from_secs(5);

pub(crate) fn run(arguments: &WithPostgres) -> Result<Outcome, Failure> {
    runtime()?.block_on(beside_server(arguments))
}

async fn beside_server(arguments: &WithPostgres) -> Result<Outcome, Failure> {
    let Some((program, rest)) = arguments.command.split_first() else { return Ok(Outcome::Clean) };
    let mut interrupts = Interrupts::catch().map_err(Failure::io("catch signals"))?;
    let options = Options { durable: arguments.durable, bring: arguments.bring.bring_postgres };
    let server = start(options, &mut interrupts).await?;
    let mut command = Command::new(program);
    command.args(rest);
    for variable in URL_VARIABLES {
        command.env(variable, server.url());
    }
    let mut child = command.spawn().map_err(Failure::io(format!("run {}", program.display())))?;
    let waited = Failure::io(format!("wait for {}", program.display()));
    tokio::select! {
        status = child.wait() => Ok(Outcome::Exit(exit_code(status.map_err(waited)?))),
        signal = interrupts.next() => {
            end(&mut child, signal, &mut interrupts).await.map_err(waited)?;
            Err(Failure::Interrupted { signal })
        }
    }
}

/// Starts a server, unless a signal comes first.
pub(crate) async fn start(options: Options, interrupts: &mut Interrupts) -> Result<Server, Failure> {
    let starting = tokio::task::spawn_blocking(move || Server::start(options));
    tokio::select! {
        // A server that is still starting is dropped by the runtime once it has started.
        signal = interrupts.next() => Err(Failure::Interrupted { signal }),
        started = starting => Ok(started.map_err(io::Error::other).map_err(Failure::io("start a server"))??),
    }
}

/// Ends a command, each step harder than the one before; another signal skips to the next step.
async fn end(child: &mut Child, signal: u8, interrupts: &mut Interrupts) -> io::Result<()> {
    if signal == 2 && ended_within(AFTER_CTRL_C, child, interrupts).await? {
        return Ok(());
    }
    if let Some(pid) = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) {
        kill_process(pid, Signal::TERM).ok();
    }
    if ended_within(AFTER_TERMINATE, child, interrupts).await? {
        return Ok(());
    }
    child.kill().await
}

async fn ended_within(limit: Duration, child: &mut Child, interrupts: &mut Interrupts) -> io::Result<bool> {
    tokio::select! {
        ended = timeout(limit, child.wait()) => ended.map_or(Ok(false), |status| status.map(|_| true)),
        _ = interrupts.next() => Ok(false),
    }
}

/// The code of a process, or what a shell makes of the signal that ended it.
fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_ended_by_a_signal_has_the_code_that_a_shell_gives() {
        assert_eq!(exit_code(ExitStatus::from_raw(9)), 137);
        assert_eq!(exit_code(ExitStatus::from_raw(3 << 8)), 3);
    }
}
