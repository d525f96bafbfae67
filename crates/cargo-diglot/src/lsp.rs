//! `cargo diglot lsp`: a language server on standard input and output.
//!
//! One thread works, on one message after the other, in the order in which they came. A second one takes messages in
//! meanwhile, so that the first sees that something waits: a check stops for it and goes on later, from the statement
//! where it stopped.

mod convert;
mod documents;
mod offers;
mod project;
mod server;

use std::collections::HashSet;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};
use lsp_server::{Connection, Message, RequestId};
use lsp_types::InitializeParams;

use crate::failure::Failure;
use crate::{Outcome, report};
use server::Server;

/// Requests that the editor no longer wants to have answered.
type Cancelled = Arc<Mutex<HashSet<RequestId>>>;

/// Serves one editor until it says that it ends.
pub(crate) fn run() -> Result<Outcome, Failure> {
    let (connection, threads) = Connection::stdio();
    let ended = serve(&connection)?;
    drop(connection);
    threads.join().map_err(Failure::io("talk to the editor"))?;
    Ok(ended)
}

fn serve(connection: &Connection) -> Result<Outcome, Failure> {
    let Ok((id, params)) = connection.initialize_start() else {
        // The editor went before it began.
        return Ok(Outcome::Clean);
    };
    let params: InitializeParams = serde_json::from_value(params).map_err(|error| Failure::Editor { source: error })?;
    let answer = serde_json::json!({ "capabilities": offers::capabilities(), "serverInfo": offers::info() });
    if connection.initialize_finish(id, answer).is_err() {
        return Ok(Outcome::Clean);
    }
    let (sender, inbox) = unbounded();
    let cancelled = Cancelled::default();
    let worker = {
        let (editor, cancelled) = (connection.sender.clone(), Arc::clone(&cancelled));
        let work = move || Server::new(editor, inbox, cancelled, &params).run();
        // As much as the main thread of a program has, on which `check` runs.
        thread::Builder::new().stack_size(8 << 20).spawn(work).map_err(Failure::io("start a thread"))?
    };
    take_in(&connection.receiver, &sender, &cancelled);
    drop(sender);
    let in_order = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
    if !in_order {
        report::line("the editor ended without saying so");
    }
    Ok(if in_order { Outcome::Clean } else { Outcome::Exit(1) })
}

/// Hands messages on as they come, and notes at once what is cancelled.
fn take_in(from: &Receiver<Message>, to: &Sender<Message>, cancelled: &Cancelled) {
    for message in from {
        if let Message::Notification(note) = &message
            && note.method == "$/cancelRequest"
        {
            if let Ok(id) = serde_json::from_value(note.params["id"].clone()) {
                cancelled.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
            }
            continue;
        }
        let is_end = matches!(&message, Message::Notification(note) if note.method == "exit");
        if to.send(message).is_err() || is_end {
            return;
        }
    }
}
