//! Pairs that are known not to do at once what they do one after the other, with the reason. A line goes when that is
//! mended.

const KNOWN: &[(&str, &str, &str)] = &[
    ("claim", "change_priority", "a claim passes over the execution that somebody holds, and takes the next one"),
    ("claim", "issue_claim_grant", "a claim passes over the execution that somebody holds"),
    ("claim_for_worker", "change_priority", "as a claim"),
    ("claim_for_worker", "claim_execution", "a worker may be offered an execution whose grant is being used"),
    ("claim_for_worker", "rotate_secret", "two first keys that are installed at once may both sign"),
    ("claim_for_worker", "seed_secret", "two first keys that are installed at once may both sign"),
    ("rotate_secret", "seed_secret", "two first keys that are installed at once may both sign"),
    ("sweep", "*", "a sweep passes over what somebody holds, and comes back to it in its next run"),
];

/// The states in which results hang on who comes first by a moment, and some are not settled; only who asks for them
/// plays them.
const UNSETTLED: [&str; 9] = [
    "a budget is spent from",
    "a deadline has passed",
    "a grant has run out",
    "a group is satisfied",
    "a lease has run out",
    "a suspension has run out",
    "an execution is granted",
    "there is no secret yet",
    "two executions wait",
];

/// Whether all that is done at once in a state is known to be as one after the other, but for the pairs named here.
pub(crate) fn is_settled(state: &str) -> bool {
    !UNSETTLED.contains(&state)
}

/// What is known of a pair, in either order.
pub(crate) fn why(first: &str, second: &str) -> Option<&'static str> {
    let is = |name: &str, other: &str| name == other || name == "*";
    let found = KNOWN.iter().find(|(a, b, _)| (is(a, first) && is(b, second)) || (is(a, second) && is(b, first)));
    found.map(|(_, _, why)| *why)
}
