//! Which executions a sweep looks at.

use ff_core::backend::ScannerFilter;
use ff_core::types::Namespace;
use serde_json::Value;

use crate::model::document;

/// Whether a filter lets an execution with this open document pass.
pub(crate) fn passes(filter: &ScannerFilter, document: &Value) -> bool {
    if filter.is_noop() {
        return true;
    }
    let namespace = document::member_string(document, "namespace").map(Namespace::new);
    let tag = filter.instance_tag.as_ref().and_then(|(key, _)| document::tag_text(document, key));
    filter.matches(namespace.as_ref(), tag.as_deref())
}

/// What a database is asked to compare of a filter, so that a list has no pages of what others want. A row that it lets
/// pass is judged again by [`passes`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) namespace: Option<String>,
    pub(crate) tag_key: Option<String>,
    pub(crate) tag_value: Option<String>,
}

impl Asked {
    /// As much of a filter as every database can compare.
    pub(crate) fn of(filter: &ScannerFilter) -> Self {
        let namespace = filter.namespace.as_ref().map(Namespace::as_str).filter(|namespace| is_text(namespace));
        let tag = filter.instance_tag.as_ref().filter(|(key, value)| is_plain(key) && is_text(value));
        Self {
            namespace: namespace.map(str::to_owned),
            tag_key: tag.map(|(key, _)| key.clone()),
            tag_value: tag.map(|(_, value)| value.clone()),
        }
    }
}

/// Whether a text may be a parameter; no document has another one.
fn is_text(text: &str) -> bool {
    !text.contains('\0')
}

/// Whether a key names a member of a document on every database; some signs are the beginning of a path on one.
fn is_plain(key: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && key.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_filter_asks_for_the_namespace_and_the_tag() {
        let document = json!({"namespace": "space", "tags": {"cairn.instance_id": "one"}});
        let space = ScannerFilter::new().with_namespace("space");
        assert!(passes(&ScannerFilter::NOOP, &json!({})));
        assert!(passes(&space, &document));
        assert!(!passes(&space, &json!({})));
        assert!(passes(&space.clone().with_instance_tag("cairn.instance_id", "one"), &document));
        assert!(!passes(&space.with_instance_tag("cairn.instance_id", "two"), &document));
    }

    #[test]
    fn a_database_is_asked_what_each_of_them_can_compare() {
        let asked = |filter: ScannerFilter| {
            let Asked { namespace, tag_key, tag_value } = Asked::of(&filter);
            [namespace, tag_key, tag_value].map(|part| part.unwrap_or_else(|| "-".to_owned()))
        };
        assert_eq!(asked(ScannerFilter::NOOP), ["-", "-", "-"]);
        let space = || ScannerFilter::new().with_namespace("space");
        assert_eq!(asked(space().with_instance_tag("cairn.instance_id", "one")), ["space", "cairn.instance_id", "one"]);
        for path in ["$.tags", "a b", "", "#-1", "nul\0"] {
            assert_eq!(asked(space().with_instance_tag(path, "one")), ["space", "-", "-"], "{path}");
        }
        assert_eq!(
            asked(ScannerFilter::new().with_namespace("nul\0").with_instance_tag("a", "nul\0")),
            ["-", "-", "-"]
        );
    }

    #[test]
    fn a_key_that_might_be_a_path_is_compared_here_alone() {
        for plain in ["cairn.instance_id", "team", "_a-b:c"] {
            assert!(is_plain(plain), "{plain}");
        }
        for path in ["", "$.a", "[0]", "7", "a b", "a\"b", "é"] {
            assert!(!is_plain(path), "{path}");
        }
    }
}
