//! When a suspended execution may go on: the condition of its suspension against the signals it received.

use std::collections::HashSet;

use ff_core::contracts::{CompositeBody, CountKind, ResumeCondition, SignalMatcher};

use crate::model::signal::Heard;

/// Stands among the names of a waitpoint that only an operator resumes.
const OPERATOR_ONLY: &str = "__operator_only__";

/// Stands among the names of a waitpoint that only its timeout resumes.
const TIMEOUT_ONLY: &str = "__timeout_only__";

/// Whether the signals make the condition hold. A condition of a kind that is unknown here never does.
pub(crate) fn holds(condition: &ResumeCondition, heard: &[Heard<'_>]) -> bool {
    match condition {
        ResumeCondition::Single { waitpoint_key, matcher } => {
            heard.iter().any(|signal| signal.waitpoint_key == waitpoint_key && matches(matcher, signal.name))
        }
        ResumeCondition::Composite(CompositeBody::AllOf { members }) => {
            !members.is_empty() && members.iter().all(|member| holds(member, heard))
        }
        ResumeCondition::Composite(CompositeBody::Count { n, count_kind, matcher, waitpoints }) => {
            let counted = heard.iter().filter(|signal| {
                waitpoints.iter().any(|key| key == signal.waitpoint_key)
                    && matcher.as_ref().is_none_or(|matcher| matches(matcher, signal.name))
            });
            let distinct = match count_kind {
                CountKind::DistinctWaitpoints => counted.map(|s| s.waitpoint_key).collect::<HashSet<_>>().len(),
                CountKind::DistinctSignals => counted.map(|s| s.signal_id).collect::<HashSet<_>>().len(),
                CountKind::DistinctSources => {
                    counted.map(|s| (s.source_type, s.source_identity)).collect::<HashSet<_>>().len()
                }
                _ => return false,
            };
            u32::try_from(distinct).is_ok_and(|distinct| distinct >= *n)
        }
        _ => false,
    }
}

fn matches(matcher: &SignalMatcher, name: &str) -> bool {
    match matcher {
        SignalMatcher::ByName(wanted) => wanted == name,
        SignalMatcher::Wildcard => true,
        _ => false,
    }
}

/// The names of the signals that a waitpoint waits for, in the order in which the condition has them; none
/// means any.
pub(crate) fn required_names(condition: &ResumeCondition, waitpoint_key: &str) -> Vec<String> {
    let mut names = Vec::new();
    collect(condition, waitpoint_key, &mut names);
    names
}

fn collect(condition: &ResumeCondition, waitpoint_key: &str, names: &mut Vec<String>) {
    let mut add = |name: &str| {
        if !name.is_empty() && names.iter().all(|known| known != name) {
            names.push(name.to_owned());
        }
    };
    match condition {
        ResumeCondition::Single { waitpoint_key: key, matcher: SignalMatcher::ByName(name) }
            if key == waitpoint_key =>
        {
            add(name);
        }
        ResumeCondition::OperatorOnly => add(OPERATOR_ONLY),
        ResumeCondition::TimeoutOnly => add(TIMEOUT_ONLY),
        ResumeCondition::Composite(CompositeBody::AllOf { members }) => {
            members.iter().for_each(|member| collect(member, waitpoint_key, names));
        }
        ResumeCondition::Composite(CompositeBody::Count {
            matcher: Some(SignalMatcher::ByName(name)),
            waitpoints,
            ..
        }) if waitpoints.iter().any(|key| key == waitpoint_key) => add(name),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal<'a>(waitpoint_key: &'a str, id: u8, name: &'a str, source_identity: &'a str) -> Heard<'a> {
        Heard { waitpoint_key, signal_id: [id; 16], name, source_type: "user", source_identity }
    }

    fn single(waitpoint_key: &str, matcher: SignalMatcher) -> ResumeCondition {
        ResumeCondition::Single { waitpoint_key: waitpoint_key.to_owned(), matcher }
    }

    fn by_name(name: &str) -> SignalMatcher {
        SignalMatcher::ByName(name.to_owned())
    }

    fn count(n: u32, kind: CountKind, matcher: Option<SignalMatcher>) -> ResumeCondition {
        let waitpoints = ["a", "b"].map(str::to_owned);
        ResumeCondition::Composite(CompositeBody::count(n, kind, matcher, waitpoints))
    }

    #[test]
    fn a_single_condition_looks_at_its_key_and_name() {
        let condition = single("a", by_name("go"));
        assert!(holds(&condition, &[signal("a", 1, "go", "x")]));
        assert!(!holds(&condition, &[signal("a", 1, "Go", "x"), signal("b", 2, "go", "x")]));
        assert!(holds(&single("a", SignalMatcher::Wildcard), &[signal("a", 1, "", "x")]));
    }

    #[test]
    fn no_signal_satisfies_what_waits_for_an_operator_or_a_timeout() {
        for condition in [ResumeCondition::OperatorOnly, ResumeCondition::TimeoutOnly] {
            assert!(!holds(&condition, &[signal("a", 1, "go", "x")]));
        }
    }

    #[test]
    fn all_members_must_hold_and_there_must_be_one() {
        let all = |members| ResumeCondition::Composite(CompositeBody::AllOf { members });
        let both = all(vec![single("a", SignalMatcher::Wildcard), single("b", SignalMatcher::Wildcard)]);
        assert!(!holds(&both, &[signal("a", 1, "go", "x")]));
        assert!(holds(&both, &[signal("a", 1, "go", "x"), signal("b", 2, "go", "x")]));
        assert!(!holds(&all(Vec::new()), &[signal("a", 1, "go", "x")]));
    }

    #[test]
    fn a_count_is_of_distinct_things() {
        let heard = [signal("a", 1, "go", "x"), signal("a", 1, "go", "x"), signal("a", 2, "stop", "y")];
        for (kind, distinct) in
            [(CountKind::DistinctWaitpoints, 1), (CountKind::DistinctSignals, 2), (CountKind::DistinctSources, 2)]
        {
            assert!(holds(&count(distinct, kind, None), &heard), "{kind:?}");
            assert!(!holds(&count(distinct + 1, kind, None), &heard), "{kind:?}");
        }
        assert!(!holds(&count(2, CountKind::DistinctSignals, Some(by_name("go"))), &heard));
        assert!(!holds(&count(1, CountKind::DistinctSignals, None), &[signal("c", 1, "go", "x")]));
        assert!(holds(&count(0, CountKind::DistinctSignals, None), &[]));
    }

    #[test]
    fn names_are_those_of_the_waitpoint_once_each() {
        let members = vec![
            single("a", by_name("go")),
            single("b", by_name("other")),
            single("a", SignalMatcher::Wildcard),
            single("a", by_name("")),
            ResumeCondition::OperatorOnly,
            ResumeCondition::TimeoutOnly,
            count(1, CountKind::DistinctSignals, Some(by_name("go"))),
            count(1, CountKind::DistinctSignals, Some(by_name("counted"))),
        ];
        let condition = ResumeCondition::Composite(CompositeBody::AllOf { members });
        assert_eq!(required_names(&condition, "a"), ["go", "__operator_only__", "__timeout_only__", "counted"]);
        assert_eq!(required_names(&single("a", SignalMatcher::Wildcard), "a"), [""; 0]);
    }
}
