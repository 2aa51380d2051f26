//! Takes the place of `metrics` without that feature: nothing is counted.

use std::time::Duration;

use axum::http::StatusCode;
use toolwright_bus::BusStatus;
use toolwright_chat::{ChatEvent, TurnEnd};
use toolwright_core::ToolResult;

use super::error_response::ErrorResponse;

#[derive(Default)]
pub(crate) struct Metrics {
    pub(crate) subscribers: Uncounted,
    pub(crate) open_connections: Uncounted,
    pub(crate) rejected_messages: Uncounted,
    pub(crate) expired_conversations: Uncounted,
    pub(crate) resumed_turns: Uncounted,
    pub(crate) lost_leases: Uncounted,
    pub(crate) event_gaps: Uncounted,
}

#[derive(Default)]
pub(crate) struct Uncounted;

impl Uncounted {
    pub(crate) fn inc(&self) {}

    pub(crate) fn dec(&self) {}
}

impl Metrics {
    pub(crate) fn on_chat_event(&self, _: &ChatEvent) {}

    pub(crate) fn record_call(&self, _: &ToolResult, _: Duration) {}

    pub(crate) fn record_turn(&self, _: &TurnEnd, _: Duration) {}

    pub(crate) fn record_turn_error(&self, _: &str) {}

    pub(crate) fn record_over_quota(&self, _: &str) {}

    pub(crate) fn record_response(&self, _: u16) {}

    pub(crate) fn record_remote_event(&self, _: u64) {}

    pub(crate) fn to_prometheus(
        &self,
        _: usize,
        _: Option<&BusStatus>,
    ) -> Result<String, ErrorResponse> {
        let message = "for metrics, enable the feature `metrics` of toolwright";
        Err(ErrorResponse::new(StatusCode::NOT_IMPLEMENTED, "feature", message))
    }
}
