//! Members of the open JSON documents (`raw_fields`).
//!
//! Foreign writers may have left anything there: reading never fails, it takes what it can use.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::word::CompletionWord;

/// What `terminal_outcome` says of an execution that has not ended.
const NOT_ENDED: &str = "none";

/// The tag whose value the outboxes keep beside each event.
pub(crate) const INSTANCE_TAG: &str = "cairn.instance_id";

/// A member as text: a string as it is, anything else as JSON text, null and absence as nothing.
pub(crate) fn member_text(document: &Value, name: &str) -> Option<String> {
    match document.get(name)? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// A member that must be a string; anything else counts as absent.
pub(crate) fn member_string(document: &Value, name: &str) -> Option<String> {
    document.get(name)?.as_str().map(str::to_owned)
}

/// How an execution ended, as its document says; nothing when it has not.
pub(crate) fn outcome(document: &Value) -> Option<CompletionWord> {
    member_text(document, "terminal_outcome").filter(|word| word != NOT_ENDED).map(CompletionWord::from)
}

/// The same in the words of ff-core's errors, which have one for an execution that has not ended.
pub(crate) fn terminal_outcome(document: &Value) -> String {
    outcome(document).map_or_else(|| NOT_ENDED.to_owned(), String::from)
}

/// A tag of an execution. The dots are part of the key, not a path.
pub(crate) fn tag_text(document: &Value, key: &str) -> Option<String> {
    member_text(document.get("tags")?, key)
}

/// All tags of an execution whose values are strings.
pub(crate) fn tags(document: &Value) -> HashMap<String, String> {
    let Some(Value::Object(tags)) = document.get("tags") else {
        return HashMap::new();
    };
    tags.iter().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

/// All tags of a flow whose values are strings: members of the document itself whose names are a word, a dot
/// and anything.
pub(crate) fn flow_tags(document: &Value) -> BTreeMap<String, String> {
    let members = document.as_object().into_iter().flatten();
    let tags = members.filter(|(name, _)| is_flow_tag(name));
    tags.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

fn is_flow_tag(name: &str) -> bool {
    let Some((space, _)) = name.split_once('.') else {
        return false;
    };
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    space.starts_with(|c: char| c.is_ascii_lowercase()) && space.chars().all(word)
}

/// How many workers of an execution are gone whose leases ran out.
pub(crate) const CRASH_COUNT: &str = "crash_count";

/// A counter stored as unsigned decimal text or as a number; 0 when it is neither.
pub(crate) fn counter(document: &Value, name: &str) -> u32 {
    match document.get(name) {
        Some(Value::String(text)) => text.parse().unwrap_or(0),
        Some(Value::Number(number)) => number.as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or(0),
        _ => 0,
    }
}

/// A whole number stored as such or as decimal text; anything else counts as absent.
pub(crate) fn integer(document: &Value, name: &str) -> Option<i64> {
    match document.get(name)? {
        Value::String(text) => text.parse().ok(),
        other => other.as_i64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_that_are_not_strings_read_as_their_json() {
        let document = json!({"a": "x", "b": 5, "c": null, "tags": {"a.b": [1]}});
        assert_eq!(member_text(&document, "a").as_deref(), Some("x"));
        assert_eq!(member_text(&document, "b").as_deref(), Some("5"));
        assert_eq!(member_text(&document, "c"), None);
        assert_eq!(member_string(&document, "b"), None);
        assert_eq!(tag_text(&document, "a.b").as_deref(), Some("[1]"));
    }

    #[test]
    fn only_string_tags_are_listed() {
        let found = tags(&json!({"tags": {"a.b": "v", "a.c": 1}}));
        assert_eq!(found, HashMap::from([("a.b".to_owned(), "v".to_owned())]));
        assert!(tags(&json!({"tags": []})).is_empty());
    }

    #[test]
    fn a_flows_tags_are_its_members_with_a_dot() {
        let document = json!({"a_1.b.c": "v", "a.": "w", "flow_kind": "k", "A.b": "x", "1.b": "x", "a.n": 1});
        let expected = [("a.", "w"), ("a_1.b.c", "v")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(flow_tags(&document), BTreeMap::from(expected));
        assert!(flow_tags(&json!(["a.b"])).is_empty());
    }

    #[test]
    fn a_number_may_be_text() {
        let document = json!({"a": -5, "b": "-5", "c": "5x", "d": 1.5});
        assert_eq!((integer(&document, "a"), integer(&document, "b")), (Some(-5), Some(-5)));
        assert_eq!((integer(&document, "c"), integer(&document, "d"), integer(&document, "e")), (None, None, None));
    }

    #[test]
    fn a_counter_is_strict() {
        for (stored, expected) in
            [(json!("12"), 12), (json!("12abc"), 0), (json!(-1), 0), (json!(7), 7), (json!(null), 0)]
        {
            assert_eq!(counter(&json!({"n": stored}), "n"), expected);
        }
        assert_eq!(counter(&json!({}), "n"), 0);
    }
}
