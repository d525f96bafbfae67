//! FlowFabric's own worker, ff-sdk, on this backend: a workflow from its submission to its end.
//!
//! ```text
//! cargo run --manifest-path examples/clients/Cargo.toml --bin sdk-worker                      # a SQLite file
//! cargo run --manifest-path examples/clients/Cargo.toml --bin sdk-worker -- --postgres URL    # a Postgres server
//! ```
//!
//! Each chapter claims with `FlowFabricWorker::claim_next_via_backend`: a task with progress, output and a lease
//! that the client renews past its first end; one that fails and is tried again; one that is suspended until
//! somebody approves; and two whose worker dies.
//!
//! What the client needs that is not in its own crate:
//!
//! * **A backend.** Without its default features it brings none; `connect_with` takes this one, whose sweeps run.
//! * **Features of ff-core.** It uses suspensions, streams and budgets and asks for `core` alone. This backend asks
//!   for all of them, so a program that depends on both compiles.
//! * **Its readers of streams.** They come with its default features; `read_stream` is called on the backend.
//! * **Resume grants.** It takes one and hands out none. Whether an execution may be resumed is in its row, so the
//!   grant that is made here from the ids alone is as good as any.
//! * **The first half of a reclaim.** It can use a reclaim grant, not ask for one without a server, and gets a handle
//!   instead of a task in return: `issue_reclaim_grant` and what is done with that handle are called on the backend.
//!   Where the execution has a retry policy none of this is needed: the sweep ends the attempt of the worker that
//!   died, and the next one is claimed like any other.

#[path = "../shared/mod.rs"]
mod shared;
mod work;

use ff_sdk::FlowFabricAdminClient;

use shared::{Failure, rotate_secret, title, worker};

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let place = shared::open("sdk-worker").await?;
    let backend = &place.backend;
    rotate_secret(&FlowFabricAdminClient::connect_with(backend.clone())).await?;
    let north = worker("north", backend).await?;

    title("A long task: progress, output, a lease that is renewed");
    work::convert(backend, &north).await?;
    title("A task that fails once");
    work::upload(backend, &north).await?;
    title("A task that waits for an approval");
    work::publish(backend, &north).await?;
    title("A worker that dies, and a policy that allows one more attempt");
    work::index(backend, &north).await?;
    title("A worker that dies, and another one that takes its attempt over");
    work::archive(backend, &north).await?;
    Ok(())
}
