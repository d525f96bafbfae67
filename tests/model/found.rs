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

    /// The wake-up time stayed where the deadline belongs.
    a_flow_whose_member_waits_for_its_retry_is_cancelled: [
        ("a_flow_of_four", [0; 8]),
        ("claim", [0; 8]),
        ("fail_execution", [0, 0, 0, 0, 0, 161, 0, 0]),
        ("cancel_flow", [0; 8]),
    ];

    /// The same.
    an_execution_that_was_created_to_wait_is_blocked: [
        ("create", [0, 125, 0, 0, 0, 0, 0, 45]),
        ("block_execution_for_admission", [0; 8]),
    ];
}
