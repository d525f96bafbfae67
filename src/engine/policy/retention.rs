//! When a flow is over for good.

use serde_json::Value;

use crate::model::document;
use crate::model::word::FlowWord;

/// What a flow says about its age.
pub(crate) struct FlowAge<'a> {
    /// Its state.
    pub(crate) public_flow_state: &'a FlowWord,
    /// When it was made.
    pub(crate) created_at_ms: i64,
    /// When it was ended, if somebody did.
    pub(crate) terminal_at_ms: Option<i64>,
    /// Its open document.
    pub(crate) document: &'a Value,
}

impl FlowAge<'_> {
    /// Whether a flow that has no members may be forgotten: it was ended, or has had members, and nothing has
    /// happened to it since. One that waits for its first member is not over, however old it is.
    pub(crate) fn is_over_since(&self, before_ms: i64) -> bool {
        let mutated_at_ms = document::integer(self.document, "last_mutation_at_ms");
        let happened = [Some(self.created_at_ms), self.terminal_at_ms, mutated_at_ms];
        let had_members = document::counter(self.document, "node_count") > 0;
        (had_members || self.public_flow_state.has_ended()) && happened.into_iter().flatten().all(|at| at < before_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn is_over(public_flow_state: &FlowWord, terminal_at_ms: Option<i64>, document: &Value) -> bool {
        FlowAge { public_flow_state, created_at_ms: 10, terminal_at_ms, document }.is_over_since(100)
    }

    #[test]
    fn a_flow_is_over_when_it_had_members_or_was_ended() {
        assert!(is_over(&FlowWord::Open, None, &json!({"node_count": 2, "last_mutation_at_ms": 50})));
        assert!(is_over(&FlowWord::Cancelled, Some(99), &json!({})));
        assert!(!is_over(&FlowWord::Open, None, &json!({"node_count": 0})));
        assert!(!is_over(&FlowWord::Open, None, &Value::Null));
    }

    #[test]
    fn what_happened_lately_keeps_it() {
        assert!(!is_over(&FlowWord::Cancelled, Some(100), &json!({})));
        assert!(!is_over(&FlowWord::Open, None, &json!({"node_count": 2, "last_mutation_at_ms": 100})));
    }
}
