//! A scratch database on Postgres for a command that runs statements, and the server that it is on.

use std::env;

use tokio::sync::Mutex;

use crate::cli;
use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::postgres::{Options, Server};
use crate::prepare::URL_VARIABLE;
use crate::prepare::pg::Scratch;
use crate::with_postgres;

/// How text sorts in a scratch database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sorting {
    /// As in every new database of the server.
    Server,
    /// By a language, if the server can.
    Language,
    /// By its bytes.
    Bytes,
}

/// A scratch database, and the throwaway server that it is on unless somebody named one.
pub(crate) struct Host {
    pub(crate) scratch: Scratch,
    /// How text sorts in it.
    pub(crate) sorting: Sorting,
    /// Others beside it.
    more: Mutex<Vec<Scratch>>,
    url: String,
    server: Option<Server>,
}

impl Host {
    /// Does something with a scratch database that goes afterwards, also when a signal comes in between.
    pub(crate) async fn during<T>(
        server: &cli::Postgres,
        sorting: Sorting,
        work: impl AsyncFnOnce(&Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut interrupts = Interrupts::catch().map_err(Failure::io("catch signals"))?;
        // Making and dropping the database is not interrupted, so that none is left behind.
        let host = Self::open(server, sorting, &mut interrupts).await?;
        let done = tokio::select! {
            done = work(&host) => done,
            signal = interrupts.next() => Err(Failure::Interrupted { signal }),
        };
        let dropped = host.close().await;
        let done = done?;
        dropped.map(|()| done)
    }

    /// Makes the database.
    pub(crate) async fn open(
        server: &cli::Postgres,
        sorting: Sorting,
        interrupts: &mut Interrupts,
    ) -> Result<Self, Failure> {
        let url = server.url.clone().or_else(|| env::var(URL_VARIABLE).ok());
        let options = Options { bring: server.bring.bring_postgres, ..Options::default() };
        let server = match url {
            Some(_) => None,
            None => Some(with_postgres::start(options, interrupts).await?),
        };
        let url = url.or_else(|| server.as_ref().map(|server| server.url().to_owned())).unwrap_or_default();
        let scratch = Scratch::create_sorted(&url, sorting).await?;
        Ok(Self { scratch, sorting, more: Mutex::default(), url, server })
    }

    /// An empty database beside it, which goes with it.
    pub(crate) async fn another(&self, sorting: Sorting) -> Result<Scratch, Failure> {
        Ok(self.keep(Scratch::create_sorted(&self.url, sorting).await?).await)
    }

    /// A copy of one of its databases, which goes with it. Nobody may be connected to that one meanwhile.
    pub(crate) async fn copy(&self, scratch: &Scratch) -> Result<Scratch, Failure> {
        Ok(self.keep(scratch.copy().await?).await)
    }

    async fn keep(&self, scratch: Scratch) -> Scratch {
        self.more.lock().await.push(scratch.clone());
        scratch
    }

    /// Drops the databases, or the server with all that it has.
    pub(crate) async fn close(self) -> Result<(), Failure> {
        if self.server.is_some() {
            return Ok(());
        }
        let mut dropped = self.scratch.drop().await;
        for scratch in self.more.into_inner() {
            dropped = dropped.and(scratch.drop().await);
        }
        dropped
    }
}
