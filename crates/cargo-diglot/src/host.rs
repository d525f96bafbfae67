//! A scratch database on Postgres for a command that runs statements, and the server that it is on.

use std::env;

use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::postgres::{Options, Server};
use crate::prepare::URL_VARIABLE;
use crate::prepare::pg::Scratch;
use crate::with_postgres;

/// How text sorts in a scratch database.
pub(crate) enum Sorting {
    /// As in every new database of the server.
    Server,
    /// By a language, if the server can.
    Language,
}

/// A scratch database, and the throwaway server that it is on unless somebody named one.
pub(crate) struct Host {
    pub(crate) scratch: Scratch,
    server: Option<Server>,
}

impl Host {
    /// Does something with a scratch database that goes afterwards, also when a signal comes in between.
    pub(crate) async fn during<T>(
        url: Option<String>,
        sorting: Sorting,
        work: impl AsyncFnOnce(&Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut interrupts = Interrupts::catch().map_err(Failure::io("catch signals"))?;
        // Making and dropping the database is not interrupted, so that none is left behind.
        let host = Self::open(url, sorting, &mut interrupts).await?;
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
        url: Option<String>,
        sorting: Sorting,
        interrupts: &mut Interrupts,
    ) -> Result<Self, Failure> {
        let url = url.or_else(|| env::var(URL_VARIABLE).ok());
        let server = match url {
            Some(_) => None,
            None => Some(with_postgres::start(Options::default(), interrupts).await?),
        };
        let url = url.as_deref().or(server.as_ref().map(|server| server.url())).unwrap_or_default();
        let scratch = match sorting {
            Sorting::Server => Scratch::create(url).await?,
            Sorting::Language => Scratch::create_sorted(url).await?,
        };
        Ok(Self { scratch, server })
    }

    /// Drops the database, then the server.
    pub(crate) async fn close(self) -> Result<(), Failure> {
        let dropped = self.scratch.drop().await;
        drop(self.server);
        dropped
    }
}
