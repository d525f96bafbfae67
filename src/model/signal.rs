//! What a suspension has received: an object of waitpoint keys, each with the signals delivered under it.
//!
//! Other writers leave two more shapes there: `__timeout__` entries without an id, which are no signals, and a
//! marker in place of a list, which says that a waitpoint was closed before anything came.

use ff_core::backend::ResumeSignal;
use ff_core::contracts::DeliverSignalArgs;
use ff_core::engine_error::EngineError;
use ff_core::types::{SignalId, TimestampMs};
use serde_json::{Map, Value, json};

use super::hex;
use super::id::corruption;

/// The key under which a timeout leaves its entry.
const TIMEOUT_KEY: &str = "__timeout__";

/// The status of a closed waitpoint's marker.
const CLOSED: &str = "never_committed";

/// The signals of a suspension by waitpoint key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Members {
    by_key: Map<String, Value>,
}

/// A signal as conditions look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Heard<'a> {
    pub(crate) waitpoint_key: &'a str,
    pub(crate) signal_id: SignalIdBytes,
    pub(crate) name: &'a str,
    pub(crate) source_type: &'a str,
    pub(crate) source_identity: &'a str,
}

/// The bytes of a signal's id, which can be counted and ordered.
pub(crate) type SignalIdBytes = [u8; 16];

impl Members {
    /// Reads the stored document.
    ///
    /// # Errors
    /// `Validation(Corruption)` when it is not a JSON object.
    pub(crate) fn parse(text: &str) -> Result<Self, EngineError> {
        match serde_json::from_str(text) {
            Ok(Value::Object(by_key)) => Ok(Self { by_key }),
            Ok(_) => Err(corruption("member_map not a JSON object")),
            Err(error) => Err(corruption(format!("member_map: {error}"))),
        }
    }

    /// Adds a signal under a key. The marker of a closed waitpoint gives way to it.
    ///
    /// # Errors
    /// `Validation(Corruption)` when something else than a list stands there.
    pub(crate) fn append(&mut self, waitpoint_key: &str, signal: Value) -> Result<(), EngineError> {
        let entry = self.by_key.entry(waitpoint_key).or_insert_with(|| Value::Array(Vec::new()));
        if is_closed(entry) {
            *entry = Value::Array(Vec::new());
        }
        let Value::Array(signals) = entry else {
            return Err(corruption("member_map[wp_key] not a JSON array"));
        };
        signals.push(signal);
        Ok(())
    }

    /// Adds what a timeout leaves.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub(crate) fn append_timeout(&mut self, signal_id: &SignalId, now_ms: i64) -> Result<(), EngineError> {
        let entry = json!({
            "signal_id": signal_id.to_string(),
            "signal_name": "timeout",
            "signal_category": "timeout",
            "source_type": "system",
            "source_identity": "suspension_timeout",
            "correlation_id": "",
            "accepted_at": now_ms,
            "payload_hex": null,
            "payload": null,
            "delivered_at_ms": now_ms,
            "source": "suspension_timeout",
        });
        self.append(TIMEOUT_KEY, entry)
    }

    /// Marks a waitpoint as closed, unless a signal came before. Says whether it did.
    pub(crate) fn close(&mut self, waitpoint_key: &str, now_ms: i64) -> bool {
        if self.by_key.get(waitpoint_key).and_then(Value::as_array).is_some_and(|signals| !signals.is_empty()) {
            return false;
        }
        let marker = json!({ "status": CLOSED, "closed_at_ms": now_ms, "source": "pending_wp_expiry" });
        self.by_key.insert(waitpoint_key.to_owned(), marker);
        true
    }

    /// The signal that was delivered with this idempotency key.
    pub(crate) fn delivered_with(&self, idempotency_key: &str) -> Option<SignalId> {
        let of_key = |(_, signal): &(&str, &Value)| text(signal, "idempotency_key") == idempotency_key;
        self.signals().find(of_key).and_then(|(_, signal)| signal_id(signal))
    }

    /// Every signal as conditions look at it.
    pub(crate) fn heard(&self) -> Vec<Heard<'_>> {
        self.signals().filter_map(|(waitpoint_key, signal)| Heard::new(waitpoint_key, signal)).collect()
    }

    /// Every signal, in the order in which they were accepted.
    pub(crate) fn observed(&self) -> Vec<ResumeSignal> {
        let mut observed: Vec<_> = self.signals().filter_map(|(_, signal)| observe(signal)).collect();
        observed.sort_by_key(|signal| (signal.accepted_at.0, *signal.signal_id.as_bytes()));
        observed
    }

    /// The document to store.
    pub(crate) fn into_value(self) -> Value {
        Value::Object(self.by_key)
    }

    fn signals(&self) -> impl Iterator<Item = (&str, &Value)> {
        let lists = self.by_key.iter().filter_map(|(key, entry)| Some((key.as_str(), entry.as_array()?)));
        lists.flat_map(|(key, signals)| signals.iter().map(move |signal| (key, signal)))
    }
}

impl<'a> Heard<'a> {
    fn new(waitpoint_key: &'a str, signal: &'a Value) -> Option<Self> {
        Some(Self {
            waitpoint_key,
            signal_id: *signal_id(signal)?.as_bytes(),
            name: signal.get("signal_name")?.as_str()?,
            source_type: text(signal, "source_type"),
            source_identity: text(signal, "source_identity"),
        })
    }
}

/// The signal as it is stored.
pub(crate) fn stored(args: &DeliverSignalArgs) -> Value {
    let mut signal = json!({
        "signal_id": args.signal_id.to_string(),
        "signal_name": args.signal_name,
        "signal_category": args.signal_category,
        "source_type": args.source_type,
        "source_identity": args.source_identity,
        "correlation_id": args.correlation_id.as_deref().unwrap_or_default(), // tidy: a caller's option
        "accepted_at": args.now.0,
        "payload_hex": args.payload.as_deref().map(hex::encode),
    });
    if let Some(key) = args.idempotency_key.as_ref().filter(|key| !key.is_empty()) {
        signal["idempotency_key"] = key.as_str().into();
    }
    signal
}

fn is_closed(entry: &Value) -> bool {
    entry.get("status").and_then(Value::as_str) == Some(CLOSED)
}

fn signal_id(signal: &Value) -> Option<SignalId> {
    SignalId::parse(signal.get("signal_id")?.as_str()?).ok()
}

/// A member that is text; anything else reads as empty.
fn text<'a>(signal: &'a Value, name: &str) -> &'a str {
    signal.get(name).and_then(Value::as_str).unwrap_or_default() // tidy: optional in the document
}

fn observe(signal: &Value) -> Option<ResumeSignal> {
    let accepted_at = signal.get("accepted_at").and_then(Value::as_i64).unwrap_or(0); // tidy: optional in the document
    Some(ResumeSignal {
        signal_id: signal_id(signal)?,
        signal_name: signal.get("signal_name")?.as_str()?.to_owned(),
        signal_category: text(signal, "signal_category").to_owned(),
        source_type: text(signal, "source_type").to_owned(),
        source_identity: text(signal, "source_identity").to_owned(),
        correlation_id: text(signal, "correlation_id").to_owned(),
        accepted_at: TimestampMs::from_millis(accepted_at),
        payload: signal.get("payload_hex").and_then(Value::as_str).and_then(hex::decode),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "00000000-0000-4000-8000-000000000001";

    fn members(document: Value) -> Members {
        Members::parse(&document.to_string()).unwrap()
    }

    #[test]
    fn entries_of_other_shapes_are_no_signals() {
        let found = members(json!({
            "__timeout__": [{"signal_name": "timeout", "payload": null, "delivered_at_ms": 5}],
            "closed": {"status": "never_committed"},
            "a": [{"signal_id": "no uuid", "signal_name": "x"}, {"signal_id": ID}, 7],
            "b": [{"signal_id": ID, "signal_name": "x", "payload_hex": "6869", "accepted_at": "?"}],
        }));
        let observed = found.observed();
        assert_eq!(observed.len(), 1);
        assert_eq!((observed[0].accepted_at.0, observed[0].payload.as_deref()), (0, Some(&b"hi"[..])));
        assert_eq!(found.heard()[0].waitpoint_key, "b");
    }

    #[test]
    fn signals_are_observed_in_the_order_of_their_arrival() {
        let id = |n: u8| format!("00000000-0000-4000-8000-00000000000{n}");
        let signal = |n: u8, at: i64| json!({"signal_id": id(n), "signal_name": n.to_string(), "accepted_at": at});
        let found = members(json!({"z": [signal(3, 1), signal(1, 9)], "a": [signal(2, 9)]}));
        let names: Vec<_> = found.observed().into_iter().map(|signal| signal.signal_name).collect();
        assert_eq!(names, ["3", "1", "2"]);
    }

    #[test]
    fn a_closed_waitpoint_can_be_delivered_to_again_but_other_things_cannot() {
        let mut found = members(json!({"closed": {"status": "never_committed"}, "odd": {"status": "?"}}));
        found.append("closed", json!(1)).unwrap();
        assert!(found.append("odd", json!(1)).unwrap_err().to_string().contains("member_map[wp_key] not a JSON array"));
        assert_eq!(found.into_value()["closed"], json!([1]));
    }

    #[test]
    fn closing_keeps_what_was_delivered() {
        let mut found = members(json!({"a": [1], "b": []}));
        assert!(!found.close("a", 5));
        assert!(found.close("b", 5) && found.close("c", 5));
        let stored = found.into_value();
        assert_eq!(stored["a"], json!([1]));
        assert_eq!(stored["b"], json!({"status": "never_committed", "closed_at_ms": 5, "source": "pending_wp_expiry"}));
    }

    #[test]
    fn what_is_no_object_is_corruption() {
        for (text, detail) in [("[]", "member_map not a JSON object"), ("{", "member_map: EOF")] {
            let error = Members::parse(text).unwrap_err().to_string();
            assert!(error.starts_with("validation: Corruption: ") && error.contains(detail), "{error}");
        }
    }
}
