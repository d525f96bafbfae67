//! What becomes of an execution whose suspension timed out.

use ff_core::engine_error::EngineError;

use crate::model::id::corruption;
use crate::model::word::{CompletionWord, OutcomeWord, PublicWord};

/// What a timeout does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Timeout {
    /// It ends the execution.
    Ends(Ending),
    /// It resumes the execution, with a signal that says so.
    Resumes,
}

/// How a timeout ends an execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ending {
    /// The public state.
    pub(crate) public_state: PublicWord,
    /// The outcome of its attempt.
    pub(crate) outcome: OutcomeWord,
    /// The outcome in its completion event.
    pub(crate) completion: CompletionWord,
    /// The reason in its row.
    pub(crate) reason: &'static str,
}

/// What the stored behaviour asks for; without one, the execution fails.
///
/// A failure by timeout is completed as `expired`: subscribers tell it from a failure of the work.
///
/// # Errors
/// `Validation(Corruption)` when the word is unknown.
pub(crate) fn after_timeout(behavior: Option<&str>) -> Result<Timeout, EngineError> {
    let failed = (PublicWord::Failed, OutcomeWord::Failed, CompletionWord::Expired);
    let cancelled = (PublicWord::Cancelled, OutcomeWord::Cancelled, CompletionWord::Cancelled);
    let expired = (PublicWord::Expired, OutcomeWord::Expired, CompletionWord::Expired);
    let ((public_state, outcome, completion), reason) = match behavior {
        None | Some("fail") => (failed, "suspension_timeout_fail"),
        Some("cancel") => (cancelled, "suspension_timeout_cancel"),
        Some("expire") => (expired, "suspension_timeout_expire"),
        Some("escalate") => (expired, "suspension_timeout_escalate"),
        Some("auto_resume_with_timeout_signal") => return Ok(Timeout::Resumes),
        Some(other) => {
            return Err(corruption(format!("suspension_current: timeout_behavior: '{other}' is not a known value")));
        }
    };
    Ok(Timeout::Ends(Ending { public_state, outcome, completion, reason }))
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::TimeoutBehavior;

    use super::*;

    #[test]
    fn every_behaviour_that_can_be_asked_for_is_known() {
        for behavior in [
            TimeoutBehavior::Fail,
            TimeoutBehavior::Cancel,
            TimeoutBehavior::Expire,
            TimeoutBehavior::AutoResumeWithTimeoutSignal,
            TimeoutBehavior::Escalate,
        ] {
            assert!(after_timeout(Some(behavior.as_wire_str())).is_ok(), "{behavior:?}");
        }
        assert_eq!(after_timeout(None).unwrap(), after_timeout(Some("fail")).unwrap());
        assert!(after_timeout(Some("explode")).unwrap_err().to_string().contains("'explode'"));
    }
}
