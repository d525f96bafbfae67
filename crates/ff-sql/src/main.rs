//! The program `ff-sql`: looks after a database of `ff-backend-sql`.

mod arguments;
mod bulk;
mod connect;
mod doctor;
mod failure;
mod look;
mod pause;
mod print;
mod schema;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::{Arguments, Command};
use connect::Opened;
use failure::Failure;
use print::Printer;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let printer = Printer::new(arguments.json, arguments.color);
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return printer.failed(&Failure::new(format!("the runtime does not start: {error}"))),
    };
    match runtime.block_on(run(&arguments, &printer)) {
        Ok(code) => code,
        Err(failure) => printer.failed(&failure),
    }
}

async fn run(arguments: &Arguments, printer: &Printer) -> Result<ExitCode, Failure> {
    let target = arguments.database.as_deref().ok_or_else(connect::no_database)?;
    match &arguments.command {
        Command::Migrate { check, partitions } => schema::migrate(target, *check, *partitions, printer).await,
        Command::Doctor => doctor::run(target, printer).await,
        command => {
            let opened = connect::open(target).await?;
            connect::needs_schema(&opened).await?;
            on_schema(&opened, command, printer).await
        }
    }
}

/// What needs the schema.
async fn on_schema(opened: &Opened, command: &Command, printer: &Printer) -> Result<ExitCode, Failure> {
    let backend = opened.backend();
    match command {
        Command::Status => look::status(opened, printer).await,
        Command::Lanes => look::lanes(backend, printer).await,
        Command::List { filter, limit, after } => look::list(backend, filter, *limit, after.as_deref(), printer).await,
        Command::Show { id } => look::show(backend, id, printer).await,
        Command::Retry { which } => bulk::retry(backend, which, printer).await,
        Command::Cancel { which, reason } => bulk::cancel(backend, which, reason, printer).await,
        Command::Prune { which } => bulk::prune(backend, which, printer).await,
        Command::Pause { held, reason } => pause::pause(backend, held, reason, printer).await,
        Command::Resume { held } => pause::resume(backend, held, printer).await,
        // Both run on databases without a schema.
        Command::Migrate { .. } | Command::Doctor => Ok(ExitCode::SUCCESS),
    }
}
