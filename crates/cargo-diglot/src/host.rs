//! A scratch database on Postgres for a command that runs statements, and the server that it is on.

use std::env;

use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::postgres::{Options, Server};
use crate::prepare::URL_VARIABLE;
use crate::prepare::pg::Scratch;
use crate::with_postgres;

/// A scratch database, and the throwaway server that it is on unless somebody named one.
pub(crate) struct Host {
    pub(crate) scratch: Scratch,
    server: Option<Server>,
}

impl Host {
    /// Makes the database, where text sorts by a language if the server can.
    pub(crate) async fn open(url: Option<String>, interrupts: &mut Interrupts) -> Result<Self, Failure> {
        let url = url.or_else(|| env::var(URL_VARIABLE).ok());
        let server = match url {
            Some(_) => None,
            None => Some(with_postgres::start(Options::default(), interrupts).await?),
        };
        let url = url.as_deref().or(server.as_ref().map(|server| server.url())).unwrap_or_default();
        let scratch = Scratch::create_sorted(url).await?;
        Ok(Self { scratch, server })
    }

    /// Drops the database, then the server.
    pub(crate) async fn close(self) -> Result<(), Failure> {
        let dropped = self.scratch.drop().await;
        drop(self.server);
        dropped
    }
}
