//! The merge of summary patches: JSON merge patch with a word for "set to null".

use ff_core::backend::SUMMARY_NULL_SENTINEL;
use serde_json::{Map, Value};

/// Merges a patch into a document. A patch that is no object replaces the document; a null member
/// removes, the sentinel sets null, an object member merges, anything else replaces.
pub(crate) fn merge(target: &mut Value, patch: Value) {
    let Value::Object(members) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(document) = target else {
        return;
    };
    for (name, value) in members {
        match value {
            Value::Null => {
                document.remove(&name);
            }
            Value::String(text) if text == SUMMARY_NULL_SENTINEL => {
                document.insert(name, Value::Null);
            }
            nested @ Value::Object(_) => merge(document.entry(name).or_insert(Value::Null), nested),
            other => {
                document.insert(name, other);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn merged(mut target: Value, patch: Value) -> Value {
        merge(&mut target, patch);
        target
    }

    #[test]
    fn null_removes_and_the_sentinel_sets_null() {
        assert_eq!(
            merged(
                json!({"a": 1, "b": 2, "c": {"d": 1}}),
                json!({"a": null, "b": "__ff_null__", "c": {"d": "__ff_null__"}})
            ),
            json!({"b": null, "c": {"d": null}})
        );
    }

    #[test]
    fn arrays_replace_and_are_not_looked_into() {
        assert_eq!(merged(json!({"a": [1]}), json!({"a": ["__ff_null__", null]})), json!({"a": ["__ff_null__", null]}));
    }

    #[test]
    fn a_patch_that_is_no_object_replaces_everything() {
        assert_eq!(merged(json!({"a": 1}), json!("__ff_null__")), json!("__ff_null__"));
    }

    #[test]
    fn an_object_takes_the_place_of_a_value() {
        assert_eq!(merged(json!({"a": 5}), json!({"a": {"b": {"c": 1, "d": null}}})), json!({"a": {"b": {"c": 1}}}));
    }
}
