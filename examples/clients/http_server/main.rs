//! FlowFabric's own server, ff-server, on this backend, driven over HTTP: create, claim, signal, cancel, reads.
//!
//! ```text
//! cargo run --manifest-path examples/clients/Cargo.toml --bin http-server                      # a SQLite file
//! cargo run --manifest-path examples/clients/Cargo.toml --bin http-server -- --postgres URL    # a Postgres server
//! ```
//!
//! The server listens on a free port of this machine, the caller talks to it with reqwest and a token, and a worker
//! of ff-sdk takes its tasks through `FlowFabricAdminClient`.
//!
//! What the server needs that is not in its own crate:
//!
//! * **A configuration that it can start without us.** `Server::start_with_backend` first starts the backend that the
//!   configuration names and then puts ours in its place, so it is configured for a database in memory
//!   (`ServerConfig::sqlite_dev`, which asks for `FF_DEV_MODE=1`) that stays empty.
//! * **The listener.** `api::router` gives the routes; axum serves them.
//! * **Background work.** It starts none for a backend that it is given; the sweeps of this one run.
//!
//! On SQLite a flow and its members are in the first partition, so the ids of members are made for one partition there.
//!
//! What is measured is at `/metrics`, as Prometheus reads it: without the token, so where others reach the port it belongs on
//! one of its own. With `--serve SECONDS` behind the other arguments the server goes on for as long, for whoever looks.
//!
//! What a worker needs beside the server: it has no route for progress, output or the end of a task, so the worker
//! holds the backend itself, and none for resuming, so `claim_from_resume_grant` is called with a grant made here.

mod api;
mod measured;
#[path = "../shared/mod.rs"]
mod shared;
mod story;

use std::sync::Arc;

use ff_observability::Metrics;
use ff_sdk::FlowFabricAdminClient;
use ff_server::{Server, ServerConfig};

use api::Api;
use shared::{Failure, title, worker};

#[tokio::main]
async fn main() -> Result<(), Failure> {
    // Before the backend is opened: what is counted without a recorder is not kept.
    let measured = measured::install()?;
    let place = shared::open("http-server").await?;
    let backend = place.backend.clone();

    let mut config = ServerConfig::sqlite_dev();
    let token = uuid::Uuid::new_v4().simple().to_string();
    config.api_token = Some(token.clone());
    let cors = config.cors_origins.clone();
    let server = Server::start_with_backend(config, backend.clone(), Arc::new(Metrics::new())).await?;
    let server = Arc::new(server);
    let routes = ff_server::api::router(server.clone(), &cors, Some(token.clone()))?.merge(measured.routes());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = axum::serve(listener, routes).with_graceful_shutdown(async move {
        // Also when the caller has gone.
        let _ = stopped.await;
    });
    let serving = tokio::spawn(serving.into_future());

    let api = Api::new(&url, &token);
    let admin = FlowFabricAdminClient::with_token(url.as_str(), &token)?;
    let north = worker("north", &backend).await?;
    title(&format!("The server answers at {url}"));
    story::health(&api, &url).await?;
    title("An execution: created, claimed, suspended, signalled, completed");
    story::approval(&api, &admin, &north).await?;
    title("An execution that is taken away from its worker, and one that is cancelled");
    story::control(&api, &admin, &backend, &north).await?;
    title("A flow of two steps, and its cancellation");
    story::flow(&api, &admin, &north, &place.flow_partitions).await?;
    title("A budget and a quota");
    story::limits(&api).await?;

    title("What was measured");
    story::measured(&api, &url).await?;
    if let Some(seconds) = shared::serves()? {
        title(&format!("It goes on for {seconds} s: curl {url}/metrics"));
        tokio::time::sleep(std::time::Duration::from_secs(seconds)).await;
    }

    let _ = stop.send(());
    serving.await??;
    if let Ok(server) = Arc::try_unwrap(server) {
        server.shutdown().await;
    }
    Ok(())
}
