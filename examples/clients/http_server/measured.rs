//! What the backend measures, as Prometheus reads it.

use std::time::Duration;

use axum::Router;
use axum::routing::get;
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

/// Where the steps of a histogram of seconds are: from a tenth of a millisecond to ten seconds.
const SECONDS: [f64; 11] = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0];

/// How many operations go to the database together.
const SIZES: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// How often values of histograms are taken in; otherwise they wait for somebody who asks, and take memory.
const BETWEEN: Duration = Duration::from_secs(5);

/// What was measured by this process.
#[derive(Clone)]
pub(crate) struct Measured {
    handle: PrometheusHandle,
}

/// Keeps what is measured from here on.
pub(crate) fn install() -> Result<Measured, BuildError> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Full("ff_batch_size".to_owned()), &SIZES)?
        .install_recorder()?;
    let kept = handle.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(BETWEEN).await;
            kept.run_upkeep();
        }
    });
    Ok(Measured { handle })
}

impl Measured {
    /// The route by which Prometheus reads it.
    pub(crate) fn routes(self) -> Router {
        Router::new().route("/metrics", get(move || async move { self.handle.render() }))
    }
}
