//! Ids of executions and flows and names of lanes, as rows hold them.

use ff_core::types::{FlowId, LaneId};
use uuid::Uuid;

/// The id of an execution: without the partition, which callers see before it and rows hold in a column beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecutionUuid(Uuid);

impl ExecutionUuid {
    /// The least there is: a page that begins behind it is the first one.
    pub(crate) const LEAST: Self = Self(Uuid::nil());

    /// Its bytes.
    pub(crate) fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// From the text that it has in outboxes and documents; none from any other.
    pub(crate) fn parse(text: &str) -> Result<Self, uuid::Error> {
        Uuid::parse_str(text).map(Self)
    }
}

/// The id of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowUuid(Uuid);

impl FlowUuid {
    /// The least there is: a page that begins behind it is the first one.
    pub(crate) const LEAST: Self = Self(Uuid::nil());

    /// As callers see it.
    pub(crate) fn shown(self) -> FlowId {
        FlowId::from_uuid(self.0)
    }
}

impl From<&FlowId> for FlowUuid {
    fn from(id: &FlowId) -> Self {
        Self(id.0)
    }
}

/// The name of a lane.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneName(String);

impl LaneName {
    /// As it is stored.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// As callers see it.
    pub(crate) fn shown(self) -> LaneId {
        LaneId::new(self.0)
    }
}

impl From<&LaneId> for LaneName {
    fn from(id: &LaneId) -> Self {
        Self(id.as_str().to_owned())
    }
}

/// Whether it is the lane that a caller names.
impl PartialEq<LaneId> for LaneName {
    fn eq(&self, id: &LaneId) -> bool {
        self.0 == id.as_str()
    }
}

held!(ExecutionUuid, Uuid);
held!(FlowUuid, Uuid);
held!(LaneName, String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_caller_gives_comes_back() {
        let (flow, lane) = (FlowId::new(), LaneId::new("mail"));
        let (held, other) = (LaneName::from(&lane), LaneName::from("post".to_owned()));
        assert!(held == lane && other != lane);
        assert_eq!((FlowUuid::from(&flow).shown(), held.shown()), (flow, lane));
    }

    #[test]
    fn an_execution_has_one_text() {
        let id = ExecutionUuid::from(Uuid::from_u128(0xA));
        assert_eq!(id.to_string(), "00000000-0000-0000-0000-00000000000a");
        assert_eq!(ExecutionUuid::parse(&id.to_string()).ok(), Some(id));
        assert!(ExecutionUuid::parse("mail").is_err() && ExecutionUuid::LEAST < id);
    }
}
