//! Metrics, and their text form for Prometheus.

use std::sync::OnceLock;
use std::time::Duration;

use prometheus::{
    Counter, Histogram, IntCounter, IntCounterVec, IntGauge, Registry, TextEncoder,
    register_counter_with_registry, register_histogram_with_registry,
    register_int_counter_vec_with_registry, register_int_counter_with_registry,
    register_int_gauge_with_registry,
};
use toolwright_bus::BusStatus;
use toolwright_chat::{ChatEvent, TurnEnd};
use toolwright_core::__internal::unix_millis_now;
use toolwright_core::ToolResult;

use super::error_response::ErrorResponse;

/// The upper bounds of the histogram buckets, in seconds.
const BUCKET_BOUNDS: [f64; 12] =
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0, 120.0];

/// The metrics of a server.
pub(crate) struct Metrics {
    registry: Registry,
    /// Open event streams.
    pub(crate) subscribers: IntGauge,
    /// Open TCP connections.
    pub(crate) open_connections: IntGauge,
    pub(crate) rejected_messages: IntCounter,
    /// Conversations deleted because of their age.
    pub(crate) expired_conversations: IntCounter,
    /// Interrupted turns that this node has resumed.
    pub(crate) resumed_turns: IntCounter,
    /// Workers that stopped because the lease was lost or the store failed.
    pub(crate) lost_leases: IntCounter,
    /// Places where events of another node were missing.
    pub(crate) event_gaps: IntCounter,
    /// The age of the events of other nodes when they arrive, by the clocks of both.
    bus_lag_seconds: Histogram,
    /// The state of the bus; set when the metrics are rendered.
    bus_connected: IntGauge,
    bus_queued: IntGauge,
    bus_dropped: IntGauge,
    bus_refused: IntGauge,
    /// Conversations in memory; set when the metrics are rendered.
    rooms: IntGauge,
    requests: IntCounterVec,
    /// Those of `requests` with status 2xx, once there is one: looking a label up takes longer than counting.
    successful_requests: OnceLock<IntCounter>,
    turns: IntCounterVec,
    turn_seconds: Histogram,
    calls: IntCounterVec,
    call_seconds: Histogram,
    errors: IntCounterVec,
    over_quota: IntCounterVec,
    tokens_in: IntCounter,
    tokens_out: IntCounter,
    /// Of the tokens: those of steps whose vendor reported no usage.
    tokens_estimated: IntCounter,
    /// In the currency of the prices.
    cost: Counter,
}

impl Default for Metrics {
    #[expect(clippy::expect_used, reason = "the names are constants")]
    fn default() -> Self {
        Self::new().expect("every name is valid and registered once")
    }
}

impl Metrics {
    fn new() -> prometheus::Result<Self> {
        let registry = Registry::new_custom(Some("toolwright".to_owned()), None)?;
        let gauge = |name, help| register_int_gauge_with_registry!(name, help, registry);
        let counters = |name, label, help| {
            register_int_counter_vec_with_registry!(name, help, &[label], registry)
        };
        let seconds = |name, help| {
            register_histogram_with_registry!(name, help, BUCKET_BOUNDS.to_vec(), registry)
        };
        let tokens = counters("tokens_total", "direction", "tokens that models read and wrote")?;
        Ok(Self {
            open_connections: gauge("sockets", "connections that are open")?,
            subscribers: gauge("readers", "those who read a conversation")?,
            rooms: gauge("rooms", "conversations under way")?,
            rejected_messages: register_int_counter_with_registry!(
                "prompts_refused_total",
                "prompts refused by an interceptor",
                registry
            )?,
            expired_conversations: register_int_counter_with_registry!(
                "conversations_expired_total",
                "conversations deleted because of their age",
                registry
            )?,
            resumed_turns: register_int_counter_with_registry!(
                "turns_resumed_total",
                "interrupted turns that this node has resumed",
                registry
            )?,
            lost_leases: register_int_counter_with_registry!(
                "leases_lost_total",
                "conversations that this node had to leave to another one",
                registry
            )?,
            event_gaps: register_int_counter_with_registry!(
                "event_gaps_total",
                "places where events of another node were missing",
                registry
            )?,
            bus_lag_seconds: seconds(
                "bus_lag_seconds",
                "age of the events of other nodes when they arrive, by the clocks of both",
            )?,
            bus_connected: gauge("bus_connected", "1 if the bus to other nodes can be reached")?,
            bus_queued: gauge("bus_queued", "messages that wait to be sent to other nodes")?,
            bus_dropped: gauge("bus_dropped", "messages to other nodes that were dropped")?,
            bus_refused: gauge(
                "bus_refused",
                "messages of nodes with another protocol that were refused",
            )?,
            cost: register_counter_with_registry!(
                "cost_total",
                "what models cost, where the price is known",
                registry
            )?,
            tokens_in: tokens.with_label_values(&["in"]),
            tokens_out: tokens.with_label_values(&["out"]),
            tokens_estimated: register_int_counter_with_registry!(
                "tokens_estimated_total",
                "of the tokens, those of answers whose vendor did not report all",
                registry
            )?,
            requests: counters("requests_total", "status", "requests answered")?,
            successful_requests: OnceLock::new(),
            turns: counters("turns_total", "end", "turns that are over")?,
            calls: counters("calls_total", "outcome", "calls of tools")?,
            errors: counters("errors_total", "kind", "turns that failed")?,
            over_quota: counters("quota_refused_total", "limit", "messages refused by a quota")?,
            turn_seconds: seconds("turn_seconds", "how long turns take")?,
            call_seconds: seconds("call_seconds", "how long calls of tools take")?,
            registry,
        })
    }

    /// Records the tokens, cost and calls of a chat event.
    pub(crate) fn on_chat_event(&self, event: &ChatEvent) {
        match event {
            ChatEvent::Step { usage, cost, .. } => {
                self.tokens_in.inc_by(usage.input);
                self.tokens_out.inc_by(usage.output);
                if usage.estimated {
                    self.tokens_estimated.inc_by(usage.total());
                }
                // A counter must not be given NaN or a negative number, for both of which `max` returns 0.
                self.cost.inc_by(cost.unwrap_or_default().max(0.0));
            }
            ChatEvent::Result { result, millis } => {
                self.record_call(result, Duration::from_millis(*millis));
            }
            _ => {}
        }
    }

    /// Records a tool call.
    pub(crate) fn record_call(&self, result: &ToolResult, took: Duration) {
        self.calls.with_label_values(&[result.outcome.to_string()]).inc();
        self.call_seconds.observe(took.as_secs_f64());
    }

    /// Records a turn that has ended.
    pub(crate) fn record_turn(&self, end: &TurnEnd, took: Duration) {
        let end = match end {
            TurnEnd::Answered => "answered",
            TurnEnd::Direct => "direct",
            TurnEnd::Length => "length",
            TurnEnd::Limit { .. } => "limit",
            TurnEnd::Failed { .. } => "failed",
            TurnEnd::Cancelled => "cancelled",
            _ => "other",
        };
        self.turns.with_label_values(&[end]).inc();
        self.turn_seconds.observe(took.as_secs_f64());
    }

    /// Records a turn that failed with an error instead of an end.
    pub(crate) fn record_turn_error(&self, kind: &str) {
        self.errors.with_label_values(&[kind]).inc();
    }

    /// Records a message that was refused because a quota is used up.
    pub(crate) fn record_over_quota(&self, limit: &str) {
        self.over_quota.with_label_values(&[limit]).inc();
    }

    /// Records a response by its status class.
    pub(crate) fn record_response(&self, status: u16) {
        let class = match status {
            ..300 => {
                let first = || self.requests.with_label_values(&["2xx"]);
                return self.successful_requests.get_or_init(first).inc();
            }
            300..400 => "3xx",
            400..500 => "4xx",
            _ => "5xx",
        };
        self.requests.with_label_values(&[class]).inc();
    }

    /// Records an event of another node, which has this time in milliseconds since 1970.
    pub(crate) fn record_remote_event(&self, at: u64) {
        let age = Duration::from_millis(unix_millis_now().saturating_sub(at));
        self.bus_lag_seconds.observe(age.as_secs_f64());
    }

    /// Renders all metrics in the text format of Prometheus; `rooms` is the number of conversations in memory.
    pub(crate) fn to_prometheus(
        &self,
        rooms: usize,
        bus: Option<&BusStatus>,
    ) -> Result<String, ErrorResponse> {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.rooms.set(count(rooms));
        if let Some(bus) = bus {
            self.bus_connected.set(bus.is_connected().into());
            self.bus_queued.set(count(bus.queued));
            self.bus_dropped.set(i64::try_from(bus.dropped).unwrap_or(i64::MAX));
            self.bus_refused.set(i64::try_from(bus.refused).unwrap_or(i64::MAX));
        }
        let text = TextEncoder::new().encode_to_string(&self.registry.gather());
        text.map_err(ErrorResponse::unencodable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_labels_types_and_help_are_those_that_dashboards_use() {
        let metrics = Metrics::default();
        metrics.subscribers.inc();
        metrics.open_connections.inc();
        metrics.open_connections.inc();
        metrics.open_connections.dec();
        metrics.rejected_messages.inc();
        metrics.record_response(200);
        metrics.record_response(404);
        metrics.record_turn(&TurnEnd::Answered, Duration::from_millis(1500));
        metrics.record_turn_error("network");
        metrics.record_over_quota("tokens_per_day");
        metrics.tokens_in.inc_by(10);
        metrics.cost.inc_by(0.25);
        assert_eq!(
            metrics.to_prometheus(2, None).unwrap_or_default(),
            r#"# HELP toolwright_bus_connected 1 if the bus to other nodes can be reached
# TYPE toolwright_bus_connected gauge
toolwright_bus_connected 0
# HELP toolwright_bus_dropped messages to other nodes that were dropped
# TYPE toolwright_bus_dropped gauge
toolwright_bus_dropped 0
# HELP toolwright_bus_lag_seconds age of the events of other nodes when they arrive, by the clocks of both
# TYPE toolwright_bus_lag_seconds histogram
toolwright_bus_lag_seconds_bucket{le="0.005"} 0
toolwright_bus_lag_seconds_bucket{le="0.01"} 0
toolwright_bus_lag_seconds_bucket{le="0.025"} 0
toolwright_bus_lag_seconds_bucket{le="0.05"} 0
toolwright_bus_lag_seconds_bucket{le="0.1"} 0
toolwright_bus_lag_seconds_bucket{le="0.25"} 0
toolwright_bus_lag_seconds_bucket{le="0.5"} 0
toolwright_bus_lag_seconds_bucket{le="1"} 0
toolwright_bus_lag_seconds_bucket{le="2.5"} 0
toolwright_bus_lag_seconds_bucket{le="10"} 0
toolwright_bus_lag_seconds_bucket{le="30"} 0
toolwright_bus_lag_seconds_bucket{le="120"} 0
toolwright_bus_lag_seconds_bucket{le="+Inf"} 0
toolwright_bus_lag_seconds_sum 0
toolwright_bus_lag_seconds_count 0
# HELP toolwright_bus_queued messages that wait to be sent to other nodes
# TYPE toolwright_bus_queued gauge
toolwright_bus_queued 0
# HELP toolwright_bus_refused messages of nodes with another protocol that were refused
# TYPE toolwright_bus_refused gauge
toolwright_bus_refused 0
# HELP toolwright_call_seconds how long calls of tools take
# TYPE toolwright_call_seconds histogram
toolwright_call_seconds_bucket{le="0.005"} 0
toolwright_call_seconds_bucket{le="0.01"} 0
toolwright_call_seconds_bucket{le="0.025"} 0
toolwright_call_seconds_bucket{le="0.05"} 0
toolwright_call_seconds_bucket{le="0.1"} 0
toolwright_call_seconds_bucket{le="0.25"} 0
toolwright_call_seconds_bucket{le="0.5"} 0
toolwright_call_seconds_bucket{le="1"} 0
toolwright_call_seconds_bucket{le="2.5"} 0
toolwright_call_seconds_bucket{le="10"} 0
toolwright_call_seconds_bucket{le="30"} 0
toolwright_call_seconds_bucket{le="120"} 0
toolwright_call_seconds_bucket{le="+Inf"} 0
toolwright_call_seconds_sum 0
toolwright_call_seconds_count 0
# HELP toolwright_conversations_expired_total conversations deleted because of their age
# TYPE toolwright_conversations_expired_total counter
toolwright_conversations_expired_total 0
# HELP toolwright_cost_total what models cost, where the price is known
# TYPE toolwright_cost_total counter
toolwright_cost_total 0.25
# HELP toolwright_errors_total turns that failed
# TYPE toolwright_errors_total counter
toolwright_errors_total{kind="network"} 1
# HELP toolwright_event_gaps_total places where events of another node were missing
# TYPE toolwright_event_gaps_total counter
toolwright_event_gaps_total 0
# HELP toolwright_leases_lost_total conversations that this node had to leave to another one
# TYPE toolwright_leases_lost_total counter
toolwright_leases_lost_total 0
# HELP toolwright_prompts_refused_total prompts refused by an interceptor
# TYPE toolwright_prompts_refused_total counter
toolwright_prompts_refused_total 1
# HELP toolwright_quota_refused_total messages refused by a quota
# TYPE toolwright_quota_refused_total counter
toolwright_quota_refused_total{limit="tokens_per_day"} 1
# HELP toolwright_readers those who read a conversation
# TYPE toolwright_readers gauge
toolwright_readers 1
# HELP toolwright_requests_total requests answered
# TYPE toolwright_requests_total counter
toolwright_requests_total{status="2xx"} 1
toolwright_requests_total{status="4xx"} 1
# HELP toolwright_rooms conversations under way
# TYPE toolwright_rooms gauge
toolwright_rooms 2
# HELP toolwright_sockets connections that are open
# TYPE toolwright_sockets gauge
toolwright_sockets 1
# HELP toolwright_tokens_estimated_total of the tokens, those of answers whose vendor did not report all
# TYPE toolwright_tokens_estimated_total counter
toolwright_tokens_estimated_total 0
# HELP toolwright_tokens_total tokens that models read and wrote
# TYPE toolwright_tokens_total counter
toolwright_tokens_total{direction="in"} 10
toolwright_tokens_total{direction="out"} 0
# HELP toolwright_turn_seconds how long turns take
# TYPE toolwright_turn_seconds histogram
toolwright_turn_seconds_bucket{le="0.005"} 0
toolwright_turn_seconds_bucket{le="0.01"} 0
toolwright_turn_seconds_bucket{le="0.025"} 0
toolwright_turn_seconds_bucket{le="0.05"} 0
toolwright_turn_seconds_bucket{le="0.1"} 0
toolwright_turn_seconds_bucket{le="0.25"} 0
toolwright_turn_seconds_bucket{le="0.5"} 0
toolwright_turn_seconds_bucket{le="1"} 0
toolwright_turn_seconds_bucket{le="2.5"} 1
toolwright_turn_seconds_bucket{le="10"} 1
toolwright_turn_seconds_bucket{le="30"} 1
toolwright_turn_seconds_bucket{le="120"} 1
toolwright_turn_seconds_bucket{le="+Inf"} 1
toolwright_turn_seconds_sum 1.5
toolwright_turn_seconds_count 1
# HELP toolwright_turns_resumed_total interrupted turns that this node has resumed
# TYPE toolwright_turns_resumed_total counter
toolwright_turns_resumed_total 0
# HELP toolwright_turns_total turns that are over
# TYPE toolwright_turns_total counter
toolwright_turns_total{end="answered"} 1
"#
        );
    }
}
