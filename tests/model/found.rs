//! Sequences that once showed a difference, shrunk. The number of a step's argument means what its operation makes
//! of it, so the behaviour itself has a case in the conformance suite as well.

use crate::sequence::Step;

/// Plays a sequence on a pair of databases.
async fn replay(steps: &'static [Step]) {
    crate::on_twins(move |mut twins| async move {
        if let Err(differs) = twins.play(steps).await {
            panic!("{}", differs.told);
        }
        twins.close().await;
    })
    .await;
}

macro_rules! found {
    ($($(#[doc = $doc:literal])* $name:ident: $steps:expr;)*) => {
        $(
            $(#[doc = $doc])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                replay(&$steps).await;
            }
        )*
    };
}

found! {
    one_execution_from_its_creation_to_its_end: [
        ("create", [0; 8]),
        ("claim", [0; 8]),
        ("complete", [0; 8]),
    ];

    /// Either of them was used, by chance.
    the_newer_of_two_grants_of_one_millisecond: [
        ("create", [0; 8]),
        ("issue_claim_grant", [0, 2, 0, 0, 0, 0, 0, 0]),
        ("claim_for_worker", [1, 0, 0, 0, 0, 0, 1, 0]),
    ];
}
